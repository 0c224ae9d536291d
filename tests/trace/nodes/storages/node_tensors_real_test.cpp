// Tensors of real execution traces against what is known of their models, and against the recorded
// allocations of the same run.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/memory/memory_tracker.h"
#include "sim/engine/pull/pull.h"
#include "trace/assemble/build_graph.h"
#include "trace/formats/reader.h"
#include "trace/inputs/read_input.h"
#include "trace/nodes/storages/memory_graph.h"

namespace foretrace::trace {
namespace {

/// The first trace in a file; nothing, said loudly, where the file is missing.
std::optional<LoadedTrace> shared_trace(const std::string& name) {
  const std::string path = FORETRACE_SHARED_DIR "/traces/" + name;
  if (!std::filesystem::exists(path)) {
    MESSAGE("SKIPPED: no " << path);
    return std::nullopt;
  }
  auto found = read_input(path, {});
  REQUIRE_MESSAGE(found.ok(), found.error().message);
  return std::move(found->front().trace);
}

BuiltGraph built_from(const LoadedTrace& trace) {
  auto built = is_memory_only(trace) ? build_memory_graph(trace) : build_graph(trace);
  REQUIRE_MESSAGE(built.ok(), built.error().message);
  return std::move(built).value();
}

MemoryCurve only_curve(const BuiltGraph& built) {
  auto curves = track_memory(built.graph, simulate(built.graph));
  REQUIRE(curves.size() == 1);
  return std::move(curves.front());
}

std::int64_t bytes_of(const BuiltGraph& built, TensorCategory category) {
  std::int64_t sum = 0;
  for (const Tensor& tensor : built.graph.context().tensors) {
    sum += tensor.category == category ? tensor.requested_bytes : 0;
  }
  return sum;
}

TEST_CASE("real node tensors: the storages of the weights are the parameters of the model") {
  // VGG-13, ResNet-50, GPT-2 large (its embedding is shared with the last product), and 21 layers
  // of 1024 x 1024 with a bias.
  const std::pair<std::string, std::int64_t> models[] = {
      {"triosim/vgg13_h100_et.json.gz", 133'047'848},
      {"param_et/resnet_et_1.1.0.json.gz", 25'557'032},
      {"param_et/resnet_1gpu_et_1.0.3.json.gz", 25'557'032},
      {"param_et/resnet_2gpu_et_1.1.0.json.gz", 25'557'032},
      {"param_et/hf_GPT2_et.json.tar.gz", 774'030'080},
      {"param_et/linear_et.json.gz", 21 * (1024 * 1024 + 1024)},
  };
  for (const auto& model : models) {
    const auto trace = shared_trace(model.first);
    if (!trace) continue;
    CAPTURE(model.first);
    CHECK(built_from(*trace).parameters.parameters == model.second);
  }
}

TEST_CASE("real node tensors: gradients, states and buckets are as large as the parameters") {
  if (const auto vgg = shared_trace("triosim/vgg13_h100_et.json.gz")) {
    const BuiltGraph built = built_from(*vgg);
    constexpr std::int64_t parameters = 133'047'848LL * 4;
    CHECK(bytes_of(built, TensorCategory::weight) == parameters);
    CHECK(bytes_of(built, TensorCategory::gradient) == parameters);
    // Adam: two per parameter. Its 26 step counts are on the host.
    CHECK(bytes_of(built, TensorCategory::optimizer_state) == 2 * parameters);
    CHECK(bytes_of(built, TensorCategory::input) == 512LL * 3 * 224 * 224 * 4);
  }
  if (const auto resnet = shared_trace("param_et/resnet_et_1.1.0.json.gz")) {
    const BuiltGraph built = built_from(*resnet);
    constexpr std::int64_t parameters = 25'557'032LL * 4;
    CHECK(bytes_of(built, TensorCategory::optimizer_state) == parameters);  // momentum
    CHECK(bytes_of(built, TensorCategory::gradient) == 3 * parameters);     // three steps
    // Buckets of DistributedDataParallel, and a flag that it reduces beside them.
    CHECK(bytes_of(built, TensorCategory::communication) >= parameters);
    CHECK(bytes_of(built, TensorCategory::communication) < parameters + 1024);
  }
  if (const auto gpt2 = shared_trace("param_et/hf_GPT2_et.json.tar.gz")) {
    const BuiltGraph built = built_from(*gpt2);
    constexpr std::int64_t parameters = 774'030'080LL * 4;
    CHECK(bytes_of(built, TensorCategory::gradient) == parameters);
    CHECK(bytes_of(built, TensorCategory::optimizer_state) == 2 * parameters);
  }
}

TEST_CASE("real node tensors: nothing goes before it came, and what is left adds up") {
  for (const char* name :
       {"triosim/vgg13_h100_et.json.gz", "param_et/resnet_et_1.1.0.json.gz",
        "param_et/resnet_2gpu_et_1.1.0.json.gz", "param_et/hf_GPT2_et.json.tar.gz",
        "param_et/linear_et.json.gz", "param_et/pt2_et.json.tar.gz",
        "param_et/dlrm_8rank_v100_et.tar.gz", "megatron_tp2_v100/pytorch_et_0.json.gz",
        "megatron_tp2_v100/final.1.et.gz", "megatron_tp8_a100/et_3.json.gz",
        "chakra/feeder_tests_trace.tar.gz", "chakra/et_1.0.2-chakra.0.0.4.tgz",
        "hta/simple_add_et.json.gz"}) {
    const auto trace = shared_trace(name);
    if (!trace) continue;
    CAPTURE(name);
    const BuiltGraph built = built_from(*trace);
    std::int64_t before = 0;
    std::int64_t left = 0;
    for (const Tensor& tensor : built.graph.context().tensors) {
      before += tensor.allocated_in == none<TaskId> ? tensor.bytes : 0;
      left += tensor.freed_in == none<TaskId> ? tensor.bytes : 0;
      if (tensor.allocated_in != none<TaskId> && tensor.freed_in != none<TaskId>) {
        CHECK(tensor.allocated_sequence < tensor.freed_sequence);
      }
    }
    const MemoryCurve curve = only_curve(built);
    CHECK(curve.base_bytes == before);
    CHECK(curve.end_bytes == left);
    CHECK(std::all_of(curve.points.begin(), curve.points.end(),
                      [](const MemoryPoint& point) { return point.live_bytes >= 0; }));
  }
}

TEST_CASE("real node tensors: steps of a training loop repeat") {
  const auto trace = shared_trace("param_et/resnet_et_1.1.0.json.gz");
  if (!trace) return;
  const BuiltGraph built = built_from(*trace);
  const MemoryCurve curve = only_curve(built);
  std::vector<TaskId> steps;
  for (std::size_t i = 0; i < built.graph.size(); ++i) {
    if (built.graph.name(make_id<TaskId>(i)).starts_with("ProfilerStep#")) {
      steps.push_back(make_id<TaskId>(i));
    }
  }
  REQUIRE(steps.size() == 3);
  // Bytes that each step asks for, by category, and the most that is live in it.
  std::vector<std::map<TensorCategory, std::int64_t>> asked(steps.size());
  std::vector<std::int64_t> peak(steps.size());
  for (const MemoryPoint& point : curve.points) {
    const auto step = std::upper_bound(steps.begin(), steps.end(), point.task) - steps.begin() - 1;
    if (step < 0) continue;
    const Tensor& tensor = built.graph.context().tensors[index(point.tensor)];
    auto& here = asked[static_cast<std::size_t>(step)];
    here[tensor.category] += point.allocates ? tensor.bytes : 0;
    std::int64_t& most = peak[static_cast<std::size_t>(step)];
    most = std::max(most, point.live_bytes);
  }
  CHECK(asked[1] == asked[2]);
  CHECK(peak[0] == peak[2]);
  CHECK(peak[1] == peak[2]);
}

TEST_CASE("real node tensors: a converted trace holds the tensors of its original") {
  for (const char* rank : {"0", "1"}) {
    const std::string folder = "megatron_tp2_v100/";
    const auto original = shared_trace(folder + "pytorch_et_" + rank + ".json.gz");
    const auto chakra = shared_trace(folder + "final." + rank + ".et.gz");
    if (!original || !chakra) continue;
    const BuiltGraph a = built_from(*original);
    const BuiltGraph b = built_from(*chakra);
    // Their nodes have other numbers, so compare what does not depend on them.
    const auto sizes = [](const BuiltGraph& built) {
      std::map<std::pair<std::int64_t, TensorCategory>, int> counts;
      for (const Tensor& tensor : built.graph.context().tensors) {
        ++counts[{tensor.requested_bytes, tensor.category}];
      }
      return counts;
    };
    CHECK(sizes(a) == sizes(b));
    CHECK(only_curve(a).peak_bytes == only_curve(b).peak_bytes);
  }
}

TEST_CASE("real node tensors: they are the recorded allocations of the same run") {
  const auto nodes = shared_trace("triosim/vgg13_h100_et.json.gz");
  const auto timed = shared_trace("triosim/vgg13_h100_kineto.json.gz");
  if (!nodes || !timed) return;
  const BuiltGraph predicted = built_from(*nodes);
  const BuiltGraph recorded = built_from(*timed);
  // Blocks by size; the allocator leaves up to 1 MiB with a large one (kSmallSize).
  constexpr std::int64_t largest_tail = std::int64_t{1} << 20;
  std::map<std::int64_t, int> left;
  for (const Tensor& tensor : recorded.graph.context().tensors) {
    left[tensor.bytes] += tensor.allocated_in == none<TaskId> ? 0 : 1;
  }
  int exact = 0;
  std::vector<std::int64_t> others;
  for (const Tensor& tensor : predicted.graph.context().tensors) {
    if (tensor.allocated_in == none<TaskId>) continue;
    int& blocks = left[tensor.bytes];
    exact += blocks > 0 ? 1 : 0;
    if (blocks == 0) others.push_back(tensor.bytes);
    blocks -= blocks > 0 ? 1 : 0;
  }
  int with_tail = 0;
  std::sort(others.begin(), others.end());
  for (const std::int64_t bytes : others) {
    auto at = left.upper_bound(bytes);
    while (at != left.end() && at->second == 0) ++at;
    if (at != left.end() && at->first <= bytes + largest_tail) {
      --at->second;
      ++with_tail;
    }
  }
  // 180 blocks were recorded; the other 62 are scratch space of cuDNN and cuBLAS.
  CHECK(exact == 112);
  CHECK(with_tail == 6);
  CHECK(others.size() == 6);
  // The most that the window holds at once, scratch space of the library left out.
  const MemoryCurve curve = only_curve(recorded);
  std::int64_t live = 0;
  std::int64_t most = 0;
  for (const MemoryPoint& point : curve.points) {
    const Tensor& tensor = recorded.graph.context().tensors[index(point.tensor)];
    if (tensor.allocated_in == none<TaskId> || tensor.category == TensorCategory::workspace)
      continue;
    live += point.allocates ? tensor.bytes : -tensor.bytes;
    most = std::max(most, live);
  }
  const MemoryCurve mine = only_curve(predicted);
  // 35,452,002,304 and 35,454,575,616: what is missing are the tails.
  const std::int64_t predicted_most = mine.peak_bytes - mine.base_bytes;
  CHECK(predicted_most <= most);
  CHECK(most - predicted_most < most / 10'000);
}

}  // namespace
}  // namespace foretrace::trace
