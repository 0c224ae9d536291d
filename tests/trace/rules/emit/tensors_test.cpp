// Tensors of real traces against the totals that their allocator recorded.
#include "trace/rules/emit/tensors.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/edit/editor.h"
#include "sim/engine/memory/memory_tracker.h"
#include "sim/engine/pull/pull.h"
#include "sim/graph/change.h"
#include "sim/graph/links.h"
#include "trace/assemble/build_graph.h"
#include "trace/formats/reader.h"

namespace foretrace::trace {
namespace {

/// Every recording at hand whose GPU [memory] instants tell the total, with what the totals of
/// neighbouring events say: how many tensors come in the window, how many older ones go, and how
/// many stay.
struct Recorded {
  const char* path;
  std::size_t tensors;
  std::size_t freed_older;
  std::size_t left_over;
};
constexpr Recorded recordings[] = {
    {"hta/mem_2rank_v100_rank1", 13385, 0, 0},
    {"triosim/vgg13_h100_kineto", 180, 28, 28},
    {"tracelens/bert_small_h100", 109, 0, 0},
    {"tracelens/bert_small_mi300x", 117, 0, 0},
    {"tracelens/vit_nsfw_h100", 286, 0, 0},
    {"tracelens/vit_nsfw_mi300x", 310, 0, 0},
    {"tracelens/qwen15_05b_h100", 1125, 0, 0},
    {"tracelens/qwen15_05b_mi300x", 1294, 0, 0},
    {"tracelens/norm_layers_mi300x", 213, 0, 11},
    {"tracelens/vllm_decode_full_graph_capture", 592, 0, 0},
    {"ao/gtx1650_python_stack_memory", 200, 0, 0},
    {"misc/flashinfer_rope_h100nvl", 30, 0, 0},
};

std::string path_of(const std::string& name) {
  const std::string path = FORETRACE_SHARED_DIR "/traces/" + name + ".json.gz";
  return std::filesystem::exists(path) ? path : std::string();
}

/// How many events of the only device's memory differ from the recorded total.
std::size_t differing(const TaskGraph& graph, const EventTable& events,
                      const DeviceMemory& device) {
  const auto curves = track_memory(graph, simulate(graph));
  REQUIRE(curves.size() == 1);
  const MemoryCurve& curve = curves.front();
  REQUIRE(curve.points.size() == device.order.size());
  CHECK(curve.base_bytes == device.base_bytes);
  std::size_t count = 0;
  for (std::size_t i = 0; i < device.order.size(); ++i) {
    const std::int64_t total = events.memory[device.order[i]].total_allocated;
    count += curve.points[i].live_bytes != total ? 1 : 0;
  }
  return count;
}

TaskGraph edited(const TaskGraph& graph, const Change& change) {
  auto committed = commit(graph, change);
  REQUIRE_MESSAGE(committed.ok(), committed.error().message);
  return std::move(committed).value().graph;
}

/// Every duration and every segment as it is, but through a change that rebuilds the graph.
TaskGraph after_identity(const TaskGraph& graph) {
  Change change;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    change.durations.push_back({task, graph.duration_ns(task)});
    change.segments.push_back({task, graph.segment_ns(task)});
  }
  change.inserted.push_back({.task = {.kind = TaskKind::mark}, .anchor = TaskId{0}});
  change.inserted.back().task.lane = graph.lane_id(TaskId{0});
  change.inserted.back().task.work = graph.work_id(TaskId{0});
  return edited(graph, change);
}

/// A host twice as fast, hand-overs between its threads with it.
TaskGraph after_faster_host(const TaskGraph& graph) {
  Editor editor(graph);
  std::vector<TaskId> host;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (!is_host(graph.kind(task))) continue;
    host.push_back(task);
    for (const Link& d : sources(graph, task)) {
      if (d.kind == DependencyKind::hand_over) {
        editor.set_lag(task, DependencyKind::hand_over, d.lag_ns / 2);
      }
    }
  }
  REQUIRE(editor.scale(host, 0.5, ScaleOf::duration_and_segment).ok());
  return edited(graph, editor.change());
}

TEST_CASE("tensors: live bytes of the simulated host equal the recorded total at every event") {
  for (const Recorded& recorded : recordings) {
    const std::string path = path_of(recorded.path);
    if (path.empty()) {
      MESSAGE("skipped, not here: ", recorded.path);
      continue;
    }
    INFO(std::string(recorded.path));
    const auto loaded = read_trace(path, {});
    REQUIRE(loaded.ok());
    const auto built = build_graph(loaded->events);
    REQUIRE(built.ok());
    REQUIRE(built->memory.size() == 1);
    const DeviceMemory& device = built->memory.front();
    CHECK(device.tensors == recorded.tensors);
    CHECK(device.freed_older == recorded.freed_older);
    CHECK(device.left_over == recorded.left_over);
    CHECK(device.chain_breaks == 0);
    CHECK(device.lost_frees == 0);
    CHECK(differing(built->graph, loaded->events, device) == 0);
    CHECK(differing(after_identity(built->graph), loaded->events, device) == 0);
    CHECK(differing(after_faster_host(built->graph), loaded->events, device) == 0);
  }
}

TEST_CASE("tensors: the gradients of VGG-13 are its 26 parameters") {
  const std::string path = path_of("triosim/vgg13_h100_kineto");
  if (path.empty()) {
    MESSAGE("skipped, not here: triosim/vgg13_h100_kineto");
    return;
  }
  const auto loaded = read_trace(path, {});
  REQUIRE(loaded.ok());
  const auto built = build_graph(loaded->events);
  REQUIRE(built.ok());
  std::size_t born = 0;
  std::size_t cleared = 0;
  std::int64_t bytes = 0;
  for (const Tensor& tensor : built->graph.context().tensors) {
    if (tensor.category != TensorCategory::gradient) continue;
    if (tensor.allocated_in != none<TaskId>) {
      ++born;
      bytes += tensor.bytes;
    } else {
      ++cleared;
    }
  }
  CHECK(born == 26);
  CHECK(cleared == 26);
  // VGG-13: 133,047,848 parameters of 4 bytes are 507.5 MiB; blocks are a little larger.
  CHECK(static_cast<double>(bytes) / 0x1p20 > 507.5);
  CHECK(static_cast<double>(bytes) / 0x1p20 < 508.5);
}

TEST_CASE("tensors: where no memory was recorded they follow from shapes, unless switched off") {
  const auto loaded =
      read_trace(FORETRACE_SOURCE_DIR "/examples/traces/demo_generated_cnn.json.gz", {});
  REQUIRE(loaded.ok());
  const auto built = build_graph(loaded->events);
  REQUIRE(built.ok());
  REQUIRE(built->memory.size() == 1);
  CHECK(built->memory[0].is_from_shapes);
  CHECK(built->memory[0].operators == 1632);
  CHECK(built->memory[0].unknown_results == 0);
  const auto& tensors = built->graph.context().tensors;
  CHECK(tensors.size() > 600);
  CHECK(std::all_of(tensors.begin(), tensors.end(), [](const Tensor& tensor) {
    return tensor.provenance == Provenance::assumed && tensor.bytes > 0;
  }));
  BuildOptions without;
  without.tensors_from_shapes = false;
  const auto bare = build_graph(loaded->events, without);
  REQUIRE(bare.ok());
  CHECK(bare->memory.empty());
  CHECK(bare->graph.context().tensors.empty());
}

TEST_CASE("tensors: the note names operators whose results are not known") {
  std::vector<DeviceMemory> memory(2);
  CHECK(rules::memory_note(memory).empty());
  for (DeviceMemory& device : memory) {  // two devices of a rank share its operators
    device.is_from_shapes = true;
    device.operators = 10;
    device.unknown_results = 4;
    device.unknown_names = {"my::a", "my::b"};
  }
  const std::string note = rules::memory_note(memory);
  CHECK(note.find("10 operator shapes") != std::string::npos);
  CHECK(note.find("unknown output of 4 of them (my::a, my::b and others)") != std::string::npos);
}

}  // namespace
}  // namespace foretrace::trace
