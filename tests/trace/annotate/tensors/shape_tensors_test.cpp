// Tensors from shapes: by hand, and against recordings that tell the truth.
#include "trace/annotate/tensors/shape_tensors.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/trace/annotate/trace_sketch.h"
#include "trace/formats/reader.h"

namespace foretrace::trace {
namespace {

/// A host thread, one that runs autograd nodes, and a stream.
class Run {
 public:
  Run() : main_(sketch_.thread(1)), autograd_(sketch_.thread(2)), stream_(sketch_.stream(7)) {}

  TraceSketch& sketch() { return sketch_; }
  [[nodiscard]] TrackId main() const { return main_; }
  [[nodiscard]] TrackId autograd() const { return autograd_; }

  /// Gives an operator shapes, all of them float.
  void shape(EventId event, std::string_view dims, std::size_t tensors) {
    EventTable& table = sketch_.table();
    Descriptor descriptor;
    descriptor.dims = table.names.intern(dims);
    std::string types = "[";
    for (std::size_t i = 0; i < tensors; ++i) types += i > 0 ? R"(, "float")" : R"("float")";
    descriptor.types = table.names.intern(types + "]");
    table.descriptors.push_back(descriptor);
    table.descriptor[index(event)] = make_id<DescriptorId>(table.descriptors.size() - 1);
  }
  /// Launches a kernel from within an operator.
  void launch(TrackId thread, std::int64_t time) {
    sketch_.launch(thread, time, ++correlation_);
    sketch_.kernel(stream_, "k", {time + 1000, time + 1001}, correlation_);
  }
  EventId op(std::string_view name, std::int64_t time, std::string_view dims, std::size_t tensors) {
    const EventId event = sketch_.op(main_, name, {time, time + 9});
    shape(event, dims, tensors);
    launch(main_, time + 2);
    return event;
  }

  [[nodiscard]] ShapeTensors tensors() {
    return tensors_from_shapes(sketch_.table(), annotate(sketch_.table()));
  }

 private:
  TraceSketch sketch_;
  TrackId main_;
  TrackId autograd_;
  TrackId stream_;
  std::uint32_t correlation_ = 0;
};

/// "0 +4096, 19 -4096": times and bytes.
std::string text_of(const ShapeTensors& tensors) {
  std::string text;
  for (const MemoryEvent& event : tensors.memory) {
    text += (text.empty() ? "" : ", ") + std::to_string(event.time_ns) +
            (event.bytes > 0 ? " +" : " ") + std::to_string(event.bytes);
  }
  return text;
}

TEST_CASE("shape tensors: a chain of operators frees what the next one has read") {
  Run run;
  run.op("aten::mm", 0, "[[32, 8], [8, 32]]", 2);     // 32 x 32: 4096 bytes
  run.op("aten::relu", 10, "[[32, 32]]", 1);          // reads it
  run.op("aten::add_", 20, "[[32, 32], [32]]", 2);    // makes nothing
  run.op("aten::mm", 30, "[[32, 32], [32, 64]]", 2);  // 8192 bytes
  CHECK(text_of(run.tensors()) == "0 +4096, 10 +4096, 19 -4096, 30 +8192, 39 -4096, 39 -8192");
}

TEST_CASE("shape tensors: a view of a new result is not taken for an old one of its exact size") {
  Run run;
  run.op("aten::mm", 0, "[[8, 4], [4, 128]]", 2);    // 8 x 128
  run.op("aten::relu", 10, "[[8, 128]]", 1);         // reads it, makes another
  run.op("aten::add_", 20, "[[8, 128], [128]]", 2);  // reads that one
  run.op("aten::mm", 30, "[[32, 8], [8, 32]]", 2);   // 32 x 32: as many elements
  run.op("aten::add_", 40, "[[8, 128], [128]]", 2);  // reads it as 8 x 128
  CHECK(text_of(run.tensors()) == "0 +4096, 10 +4096, 19 -4096, 29 -4096, 30 +4096, 49 -4096");
}

TEST_CASE("shape tensors: a result that nobody has read comes before a newer one that was") {
  Run run;
  run.op("aten::mm", 0, "[[32, 8], [8, 32]]", 2);
  run.op("aten::mm", 10, "[[32, 4], [4, 32]]", 2);
  run.op("aten::add_", 20, "[[32, 32], [32]]", 2);  // the newest
  run.op("aten::add_", 30, "[[32, 32], [32]]", 2);  // the one that is left
  CHECK(text_of(run.tensors()) == "0 +4096, 10 +4096, 29 -4096, 39 -4096");
}

TEST_CASE("shape tensors: what an operator calls belongs to it; its scratch space goes with it") {
  Run run;
  const EventId outer = run.sketch().op(run.main(), "aten::linear", {0, 40});
  run.shape(outer, "[[32, 8], [32, 8], [32]]", 3);
  const EventId inner = run.sketch().op(run.main(), "aten::addmm", {2, 30});
  run.shape(inner, "[[32], [32, 8], [8, 32]]", 3);
  const EventId scratch = run.sketch().op(run.main(), "aten::empty", {4, 5});
  EventTable& table = run.sketch().table();
  Descriptor descriptor;
  descriptor.dims = table.names.intern("[[], []]");
  descriptor.types = table.names.intern(R"(["ScalarList", "Scalar"])");
  descriptor.concrete = table.names.intern(R"(["[1048576]", "0"])");
  table.descriptors.push_back(descriptor);
  table.descriptor[index(scratch)] = make_id<DescriptorId>(table.descriptors.size() - 1);
  run.launch(run.main(), 10);
  run.op("aten::relu", 50, "[[32, 32]]", 1);
  CHECK(text_of(run.tensors()) == "2 +4096, 4 +1048576, 30 -1048576, 50 +4096, 59 -4096, 59 -4096");
}

TEST_CASE("shape tensors: what the backward pass reads stays until its node returns") {
  Run run;
  EventTable& table = run.sketch().table();
  const EventId product = run.op("aten::mm", 0, "[[32, 8], [8, 32]]", 2);
  table.sequence_numbers.push_back({product, 1, 0});
  const EventId relu = run.op("aten::relu", 10, "[[32, 32]]", 1);
  table.sequence_numbers.push_back({relu, 2, 0});
  const EventId sum = run.op("aten::sum", 20, "[[32, 32]]", 1);
  table.sequence_numbers.push_back({sum, 3, 0});
  const auto node = [&](std::string_view name, std::int64_t time, std::int64_t number,
                        std::string_view dims) {
    const EventId event = run.sketch().node(run.autograd(), name, {time, time + 19}, number);
    run.shape(event, dims, 1);
    return event;
  };
  node("SumBackward0", 40, 3, "[[]]");
  node("ReluBackward0", 60, 2, "[[32, 32]]");
  const EventId step = run.sketch().op(run.autograd(), "aten::threshold_backward", {62, 70});
  run.shape(step, "[[32, 32], [32, 32]]", 2);
  run.launch(run.autograd(), 64);
  node("MmBackward0", 80, 1, "[[32, 32]]");
  const EventId last = run.sketch().op(run.autograd(), "aten::mm", {82, 90});
  run.shape(last, "[[8, 32], [32, 32]]", 2);
  run.launch(run.autograd(), 84);
  // The product goes after relu (19), relu's result after its node (79), the gradient of relu's
  // input after the node that reads it (99).
  CHECK(text_of(run.tensors()) ==
        "0 +4096, 10 +4096, 19 -4096, 20 +512, 29 -512, 62 +4096, 79 -4096, 82 +1024, 99 -4096, "
        "99 -1024");
}

TEST_CASE("shape tensors: gradients of parameters stay until they are cleared") {
  Run run;
  EventTable& table = run.sketch().table();
  const EventId product = run.op("aten::mm", 0, "[[32, 8], [8, 32]]", 2);
  table.sequence_numbers.push_back({product, 1, 0});
  const EventId node = run.sketch().node(run.autograd(), "MmBackward0", {20, 39}, 1);
  run.shape(node, "[[32, 32]]", 1);
  const EventId weight = run.sketch().op(run.autograd(), "aten::mm", {22, 30});
  run.shape(weight, "[[8, 32], [32, 32]]", 2);
  run.launch(run.autograd(), 24);
  const EventId kept = run.sketch().op(run.autograd(), "torch::autograd::AccumulateGrad", {50, 55});
  run.shape(kept, "[[8, 32]]", 1);
  CHECK(text_of(run.tensors()) == "0 +4096, 9 -4096, 22 +1024");
  run.sketch().annotation(run.main(), "Optimizer.zero_grad#SGD.zero_grad", {70, 80});
  CHECK(text_of(run.tensors()) == "0 +4096, 9 -4096, 22 +1024, 70 -1024");
}

TEST_CASE("shape tensors: unknown operators are counted; what reads their result first tells it") {
  Run run;
  run.op("my::kernel", 0, "[[32, 8]]", 1);
  run.op("my::other", 10, "[[32, 32]]", 1);
  run.launch(run.main(), 30);  // a kernel of no operator
  const ShapeTensors found = run.tensors();
  CHECK(found.operators == 2);
  CHECK(found.unknown == 1);
  REQUIRE(found.unknown_names.size() == 1);
  CHECK(found.unknown_names[0].first == "my::other");
  CHECK(found.kernels == 3);
  CHECK(found.known_kernels == 1);
  CHECK(text_of(found) == "0 +4096, 19 -4096");
}

TEST_CASE(
    "shape tensors: nothing without device work, nothing from a backward pass without links") {
  Run run;
  const EventId host = run.sketch().op(run.main(), "aten::mm", {0, 9});
  run.shape(host, "[[32, 8], [8, 32]]", 2);
  CHECK(run.tensors().memory.empty());
  run.op("aten::mm", 10, "[[32, 8], [8, 32]]", 2);
  CHECK(run.tensors().memory.size() == 2);
  const EventId node = run.sketch().op(run.autograd(), "MmBackward0", {40, 60});
  run.shape(node, "[[32, 32]]", 1);
  run.launch(run.autograd(), 45);
  CHECK(run.tensors().memory.empty());
}

// ---- Recordings that tell the truth ------------------------------------------------------------

/// Most device bytes above the lowest point: older tensors that the window frees were there before.
std::int64_t peak_of(std::vector<MemoryEvent> memory) {
  std::erase_if(memory, [](const MemoryEvent& event) { return event.device_type == 0; });
  std::stable_sort(memory.begin(), memory.end(),
                   [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
  std::int64_t live = 0;
  std::int64_t peak = 0;
  std::int64_t lowest = 0;
  for (const MemoryEvent& event : memory) {
    live += event.bytes;
    peak = std::max(peak, live);
    lowest = std::min(lowest, live);
  }
  return peak - lowest;
}

struct Truth {
  const char* path;
  double low;  ///< what shapes find of the recorded peak above the begin of the window
  double high;
};
constexpr Truth truths[] = {
    {"kineto_resnet50/workers0_v100", 0.97, 1.02},  // trains
    {"kineto_resnet50/workers4_v100", 0.98, 1.01},  // trains
    {"triosim/vgg13_h100_kineto", 0.96, 1.00},      // trains; less 1.6 GB of workspace
    {"tracelens/norm_layers_mi300x", 0.95, 1.08},   // trains
    {"tracelens/bert_small_h100", 0.95, 1.05},      // inference
    // Inference: results that the program holds while the next operator works, and workspaces.
    {"tracelens/vit_nsfw_h100", 0.60, 1.00},
    {"tracelens/vit_nsfw_mi300x", 0.90, 1.00},
};

TEST_CASE("shape tensors: recordings with memory, read as if they had none") {
  for (const Truth& truth : truths) {
    const std::string path = std::string(FORETRACE_SHARED_DIR "/traces/") + truth.path + ".json.gz";
    if (!std::filesystem::exists(path)) {
      MESSAGE("skipped, not here: ", path);
      continue;
    }
    CAPTURE(path);
    const auto loaded = read_trace(path, {});
    REQUIRE(loaded.ok());
    const auto found = tensors_from_shapes(loaded->events, annotate(loaded->events));
    const double share = static_cast<double>(peak_of(found.memory)) /
                         static_cast<double>(peak_of(loaded->events.memory));
    CHECK(share >= truth.low);
    CHECK(share <= truth.high);
    MESSAGE(path, ": ", share);
  }
}

}  // namespace
}  // namespace foretrace::trace
