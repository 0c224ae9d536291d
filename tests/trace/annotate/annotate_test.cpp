#include "trace/annotate/annotate.h"

#include <string>

#include <doctest/doctest.h>

#include "tests/trace/annotate/trace_sketch.h"
#include "trace/annotate/evidence.h"

namespace {

using foretrace::EventId;
using foretrace::index;
using foretrace::none;
using foretrace::Phase;
using foretrace::TrackId;
using foretrace::trace::annotate;
using foretrace::trace::Annotation;
using foretrace::trace::EventKind;
using foretrace::trace::PhaseEvidence;
using foretrace::trace::TraceSketch;

Phase phase_of(const Annotation& annotation, EventId event) {
  return annotation.phase[index(event)];
}
PhaseEvidence evidence_of(const Annotation& annotation, EventId event) {
  return annotation.evidence[index(event)];
}
std::string layer_of(const Annotation& annotation, EventId event) {
  return annotation.modules[annotation.layer[index(event)]].name;
}

}  // namespace

TEST_CASE("annotate: an empty table gives an empty annotation with the layer for none") {
  const Annotation annotation = annotate({});
  CHECK(annotation.phase.empty());
  CHECK(annotation.steps.empty());
  REQUIRE(annotation.modules.size() == 1);
  CHECK(annotation.modules[0].name.empty());
}

TEST_CASE("annotate: ranges name loader, forward, backward and update; kernels inherit by launch") {
  TraceSketch sketch;
  const TrackId main = sketch.thread(1);
  const TrackId stream = sketch.stream(7);
  sketch.annotation(main, "ProfilerStep#3", {0, 100});
  const EventId loader = sketch.annotation(
      main, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", {1, 10});
  sketch.annotation(main, "## forward ##", {11, 30});
  const EventId mm = sketch.op(main, "aten::mm", {12, 20});
  const EventId call = sketch.launch(main, 13, 5);
  sketch.annotation(main, "## backward ##", {31, 50});
  sketch.launch(main, 33, 6);
  sketch.annotation(main, "Optimizer.step#SGD.step", {60, 90});
  sketch.launch(main, 61, 7);
  const EventId forward = sketch.kernel(stream, "gemm", {20, 40}, 5);
  const EventId backward = sketch.kernel(stream, "gemm", {40, 80}, 6);
  const EventId update = sketch.kernel(stream, "axpy", {80, 110}, 7);
  const Annotation annotation = annotate(sketch.table());
  CHECK(phase_of(annotation, loader) == Phase::data_loading);
  CHECK(evidence_of(annotation, loader) == PhaseEvidence::loader);
  CHECK(phase_of(annotation, forward) == Phase::forward);
  CHECK(evidence_of(annotation, forward) == PhaseEvidence::annotation);
  CHECK(phase_of(annotation, backward) == Phase::backward);
  CHECK(phase_of(annotation, update) == Phase::update);
  CHECK(evidence_of(annotation, update) == PhaseEvidence::optimizer);
  CHECK(annotation.operator_event[index(forward)] == mm);
  CHECK(annotation.operator_event[index(call)] == mm);
  CHECK(annotation.operator_event[index(backward)] == none<EventId>);
}

TEST_CASE("annotate: a loss inside a range called backward is forward, because a node proves it") {
  TraceSketch sketch;
  const TrackId main = sketch.thread(1);
  const TrackId engine = sketch.thread(2);
  sketch.annotation(main, "## backward ##", {0, 100});
  const EventId loss = sketch.op(main, "aten::cross_entropy_loss", {1, 10});
  const EventId inner = sketch.numbered(main, "aten::nll_loss", {2, 9}, 40);
  const EventId seed = sketch.op(main, "aten::ones_like", {11, 15});
  const EventId node = sketch.node(engine, "NllLossBackward0", {20, 30}, 40);
  const EventId add = sketch.op(engine, "aten::add_", {31, 32});
  const Annotation annotation = annotate(sketch.table());
  CHECK(phase_of(annotation, inner) == Phase::forward);
  CHECK(phase_of(annotation, loss) == Phase::forward);
  CHECK(evidence_of(annotation, loss) == PhaseEvidence::flow);
  CHECK(phase_of(annotation, seed) == Phase::backward);
  CHECK(phase_of(annotation, node) == Phase::backward);
  CHECK(phase_of(annotation, add) == Phase::backward);  // between nodes of an engine thread
}

TEST_CASE("annotate: forward work inside an autograd node is recomputation and stays backward") {
  TraceSketch sketch;
  const TrackId main = sketch.thread(1);
  const TrackId engine = sketch.thread(2);
  sketch.frame(main, "nn.Module: Net_0", {0, 20});
  sketch.frame(main, "nn.Module: Block_0", {1, 19});
  sketch.numbered(main, "aten::mm", {2, 9}, 7);
  sketch.numbered(main, "aten::add", {10, 12}, 8);
  sketch.node(engine, "CheckpointFunctionBackward", {30, 60}, 7);
  const EventId module = sketch.frame(engine, "nn.Module: Block_0", {31, 50});
  const EventId again = sketch.numbered(engine, "aten::mm", {32, 40}, 7);
  sketch.numbered(engine, "aten::relu", {41, 42}, 8);
  const Annotation annotation = annotate(sketch.table());
  CHECK(phase_of(annotation, module) == Phase::backward);
  CHECK(phase_of(annotation, again) == Phase::backward);
  CHECK(layer_of(annotation, again) == "Net_0/Block_0");
}

TEST_CASE("annotate: backward operators take the layer of the operator that made their node") {
  TraceSketch sketch;
  const TrackId main = sketch.thread(1);
  const TrackId engine = sketch.thread(2);
  const TrackId stream = sketch.stream(7);
  sketch.frame(main, "nn.Module: Net_0", {0, 40});
  sketch.frame(main, "nn.Module: Linear_0", {1, 10});
  sketch.numbered(main, "aten::linear", {2, 9}, 5);
  sketch.numbered(main, "aten::addmm", {3, 8}, 5);
  sketch.frame(main, "nn.Module: ReLU_0", {11, 20});
  sketch.numbered(main, "aten::relu", {12, 15}, 6);
  const EventId relu = sketch.node(engine, "ReluBackward0", {50, 55}, 6);
  sketch.node(engine, "AddmmBackward0", {60, 70}, 5);
  sketch.launch(engine, 61, 1);
  const EventId accumulate = sketch.op(engine, "torch::autograd::AccumulateGrad", {71, 80});
  const EventId send = sketch.op(engine, "c10d::allreduce_", {73, 75});
  const EventId kernel = sketch.kernel(stream, "gemm", {65, 90}, 1);
  const Annotation annotation = annotate(sketch.table());
  CHECK(layer_of(annotation, relu) == "Net_0/ReLU_0");
  CHECK(layer_of(annotation, kernel) == "Net_0/Linear_0");
  CHECK(layer_of(annotation, accumulate) == "Net_0/Linear_0");
  CHECK(layer_of(annotation, send).empty());  // a bucket holds gradients of many layers
  CHECK(phase_of(annotation, send) == Phase::communication);
  const std::uint32_t linear = annotation.layer[index(kernel)];
  CHECK(annotation.modules[annotation.modules[linear].parent].name == "Net_0");
}

TEST_CASE("annotate: flows link forward and backward where sequence numbers are absent") {
  TraceSketch sketch;
  const TrackId main = sketch.thread(1);
  const TrackId engine = sketch.thread(2);
  sketch.frame(main, "nn.Module: Linear_0", {0, 10});
  const EventId forward = sketch.op(main, "my::op", {2, 9});
  const EventId backward = sketch.op(engine, "my::op_grad", {20, 30});
  sketch.flow(1, main, 2, true);
  sketch.flow(1, engine, 20, false);
  const Annotation annotation = annotate(sketch.table());
  CHECK(phase_of(annotation, forward) == Phase::forward);
  CHECK(phase_of(annotation, backward) == Phase::backward);
  CHECK(evidence_of(annotation, backward) == PhaseEvidence::flow);
  CHECK(layer_of(annotation, backward) == "Linear_0");
  // Flow numbers start again in every rank: a start in rank 1 must not pair with an end in rank 0.
  TraceSketch two_ranks;
  const TrackId other = two_ranks.thread(1, 1);
  const TrackId ours = two_ranks.thread(1, 0);
  two_ranks.op(other, "my::op", {2, 9});
  const EventId alone = two_ranks.op(ours, "my::op_grad", {20, 30});
  two_ranks.flow(1, other, 2, true);
  two_ranks.flow(1, ours, 20, false);
  CHECK(evidence_of(annotate(two_ranks.table()), alone) == PhaseEvidence::context);
}

TEST_CASE("annotate: threads that share sequence numbers keep their own layers") {
  // Two forward threads of one process count on their own: number 5 exists twice. Numbers 9 and 11
  // exist on one thread each and tell which forward thread is which track.
  TraceSketch sketch;
  const TrackId first = sketch.thread(1);
  const TrackId second = sketch.thread(2);
  const TrackId engine = sketch.thread(3);
  sketch.frame(first, "nn.Module: A_0", {0, 10});
  sketch.numbered(first, "aten::mm", {1, 2}, 5);
  sketch.numbered(first, "aten::mm", {3, 4}, 9);
  sketch.frame(second, "nn.Module: B_0", {0, 10});
  sketch.numbered(second, "aten::mm", {2, 3}, 5);
  sketch.numbered(second, "aten::mm", {4, 5}, 11);
  const auto node = [&sketch, engine](std::int64_t start_ns, std::int64_t number,
                                      std::int64_t forward_thread) {
    const EventId event = sketch.node(engine, "MmBackward0", {start_ns, start_ns + 2}, number);
    sketch.table().sequence_numbers.back().forward_thread = forward_thread;
    return event;
  };
  node(20, 9, 1);
  node(23, 11, 2);
  const EventId of_first = node(26, 5, 1);
  const EventId of_second = node(29, 5, 2);
  const Annotation annotation = annotate(sketch.table());
  CHECK(layer_of(annotation, of_first) == "A_0");
  CHECK(layer_of(annotation, of_second) == "B_0");
}

TEST_CASE("annotate: position decides only between evidence, and zero_ before a backward is none") {
  TraceSketch sketch;
  const TrackId main = sketch.thread(1);
  const TrackId engine = sketch.thread(2);
  const TrackId stream = sketch.stream(7);
  sketch.annotation(main, "ProfilerStep#1", {0, 200});
  sketch.op(main, "enumerate(DataLoader)#_X.__next__", {1, 5});  // 2020-21: among the operators
  sketch.op(main, "aten::to", {6, 9});
  sketch.launch(main, 7, 1);
  const EventId mask = sketch.op(main, "aten::tril", {10, 11});
  sketch.numbered(main, "aten::mm", {12, 20}, 1);
  const EventId between = sketch.op(main, "aten::view", {21, 22});
  sketch.numbered(main, "aten::mse_loss", {23, 30}, 2);
  const EventId clear = sketch.op(main, "aten::zero_", {31, 34});
  const EventId fill = sketch.op(main, "aten::fill_", {32, 33});
  sketch.node(engine, "MseLossBackward0", {40, 50}, 2);
  sketch.node(engine, "MmBackward0", {50, 60}, 1);
  const EventId norm = sketch.op(main, "aten::linalg_vector_norm", {70, 80});
  sketch.launch(main, 75, 2);
  const EventId log = sketch.op(main, "aten::item", {81, 85});
  sketch.launch(main, 82, 3);
  sketch.annotation(main, "Optimizer.step#Adam.step", {90, 100});
  const EventId metric = sketch.op(main, "aten::mean", {110, 120});
  const EventId upload = sketch.copy(stream, "Memcpy HtoD (Pinned -> Device)", {8, 12}, 1);
  const Annotation annotation = annotate(sketch.table());
  CHECK(phase_of(annotation, mask) == Phase::forward);
  CHECK(phase_of(annotation, between) == Phase::forward);
  CHECK(evidence_of(annotation, between) == PhaseEvidence::context);
  CHECK(phase_of(annotation, clear) == Phase::unknown);
  CHECK(phase_of(annotation, fill) == Phase::unknown);
  CHECK(phase_of(annotation, norm) == Phase::update);
  CHECK(phase_of(annotation, log) == Phase::unknown);  // reading a value back updates nothing
  CHECK(phase_of(annotation, metric) == Phase::unknown);
  CHECK(phase_of(annotation, upload) == Phase::data_loading);
}

TEST_CASE(
    "annotate: a rank without backward or update is inference, other ranks are not affected") {
  TraceSketch sketch;
  const TrackId inference = sketch.thread(1, 0);
  const EventId mm = sketch.op(inference, "aten::mm", {0, 5});
  const TrackId training = sketch.thread(1, 1);
  const EventId lone = sketch.op(training, "aten::mm", {0, 5});
  sketch.annotation(training, "Optimizer.step#SGD.step", {6, 9});
  const TrackId poller = sketch.thread(9, 0);
  const EventId poll = sketch.add(EventKind::runtime, poller, "cudaEventQuery", {1, 2});
  const Annotation annotation = annotate(sketch.table());
  CHECK(phase_of(annotation, mm) == Phase::forward);
  CHECK(phase_of(annotation, lone) == Phase::unknown);
  CHECK(phase_of(annotation, poll) == Phase::unknown);
}

TEST_CASE("annotate: ranks repeat correlations and sequence numbers without mixing") {
  TraceSketch sketch;
  for (const std::int32_t rank : {0, 1}) {
    const TrackId main = sketch.thread(1, rank);
    const TrackId stream = sketch.stream(7, rank);
    sketch.annotation(main, rank == 0 ? "## forward ##" : "## backward ##", {0, 10});
    sketch.launch(main, 1, 5);
    sketch.kernel(stream, "k", {2, 9}, 5);
  }
  const Annotation annotation = annotate(sketch.table());
  CHECK(annotation.phase[2] == Phase::forward);
  CHECK(annotation.phase[5] == Phase::backward);
}

TEST_CASE("annotate: work launched before the trace takes the phase of equal work, if it has one") {
  TraceSketch sketch;
  const TrackId main = sketch.thread(1);
  const TrackId stream = sketch.stream(7);
  sketch.annotation(main, "## forward ##", {100, 120});
  sketch.launch(main, 101, 1);
  sketch.launch(main, 103, 2);
  sketch.annotation(main, "## backward ##", {130, 150});
  sketch.launch(main, 131, 3);
  sketch.launch(main, 133, 4);
  const EventId conv = sketch.kernel(stream, "conv", {0, 10}, 91);
  const EventId both = sketch.kernel(stream, "add", {10, 12}, 92);
  const EventId conv_again = sketch.kernel(stream, "conv", {12, 20}, 93);
  const EventId dgrad = sketch.kernel(stream, "dgrad", {20, 30}, 94);
  const EventId never = sketch.kernel(stream, "other", {30, 31}, 95);
  const EventId reduce = sketch.kernel(stream, "ncclDevKernel_AllReduce_Sum", {31, 40}, 96);
  sketch.kernel(stream, "conv", {140, 150}, 1);
  sketch.kernel(stream, "add", {150, 152}, 2);
  sketch.kernel(stream, "dgrad", {152, 160}, 3);
  sketch.kernel(stream, "add", {160, 162}, 4);
  const Annotation annotation = annotate(sketch.table());
  CHECK(phase_of(annotation, conv) == Phase::forward);
  CHECK(evidence_of(annotation, conv) == PhaseEvidence::twin);
  CHECK(phase_of(annotation, dgrad) == Phase::backward);
  CHECK(phase_of(annotation, both) == Phase::forward);  // two phases, but between two of forward
  CHECK(evidence_of(annotation, both) == PhaseEvidence::context);
  CHECK(phase_of(annotation, conv_again) == Phase::forward);
  CHECK(phase_of(annotation, never) == Phase::unknown);
  CHECK(phase_of(annotation, reduce) == Phase::communication);
}

TEST_CASE("annotate: first and last steps of a tenth of the others are degenerate, slow ones not") {
  TraceSketch sketch;
  const TrackId main = sketch.thread(1);
  sketch.op(main, "ProfilerStep#5", {0, 50});  // 2020-21: among the operators
  sketch.annotation(main, "ProfilerStep#6", {50, 1050});
  sketch.annotation(main, "ProfilerStep#7", {1050, 2050});
  sketch.annotation(main, "ProfilerStep#8", {2050, 2420});
  const Annotation annotation = annotate(sketch.table());
  REQUIRE(annotation.steps.size() == 4);
  CHECK(annotation.steps[0].number == 5);
  CHECK(annotation.steps[0].degenerate);
  CHECK_FALSE(annotation.steps[1].degenerate);
  CHECK_FALSE(annotation.steps[3].degenerate);
  CHECK(annotation.operator_event[0] == none<EventId>);  // a step mark is no operator
}

TEST_CASE("annotate: regions never overlap and give annotations what their operators leave") {
  TraceSketch sketch;
  const TrackId main = sketch.thread(1);
  sketch.annotation(main, "ProfilerStep#1", {0, 100});
  sketch.annotation(main, "## forward ##", {10, 50});
  sketch.frame(main, "nn.Module: Net_0", {12, 40});
  sketch.op(main, "aten::linear", {15, 25});
  sketch.op(main, "aten::addmm", {16, 20});
  sketch.annotation(main, "Optimizer.step#SGD.step", {60, 90});
  sketch.op(main, "aten::add_", {61, 70});
  const Annotation annotation = annotate(sketch.table());
  // forward 10-12, Net_0 12-15, linear 15-25, Net_0 25-40, forward 40-50, optimizer 60-90.
  REQUIRE(annotation.regions.size() == 6);
  const auto& regions = annotation.regions;
  for (std::size_t i = 0; i + 1 < regions.size(); ++i) {
    CHECK(regions[i].end_ns <= regions[i + 1].start_ns);
  }
  CHECK(sketch.table().names[regions[2].name] == "aten::linear");
  CHECK(regions[2].start_ns == 15);
  CHECK(regions[2].end_ns == 25);
  CHECK(annotation.modules[regions[2].layer].name == "Net_0");
  CHECK(regions[3].start_ns == 25);
  CHECK(regions[3].end_ns == 40);
  CHECK(regions[4].phase == Phase::forward);
  CHECK(regions[5].phase == Phase::update);
  CHECK(regions[5].end_ns - regions[5].start_ns == 30);
}

TEST_CASE("annotate: evidence that is left out gives nothing") {
  TraceSketch sketch;
  const TrackId main = sketch.thread(1);
  const EventId range = sketch.annotation(main, "Optimizer.step#SGD.step", {0, 10});
  sketch.annotation(main, "## backward ##", {20, 30});
  using foretrace::trace::EvidenceSet;
  const auto all = EvidenceSet::all();
  CHECK(annotate_with(sketch.table(), all).phase[index(range)] == Phase::update);
  CHECK(annotate_with(sketch.table(), all.without(PhaseEvidence::optimizer)).phase[index(range)] !=
        Phase::update);
  CHECK(annotate_with(sketch.table(), EvidenceSet::only(PhaseEvidence::optimizer)).phase[0] ==
        Phase::update);
}
