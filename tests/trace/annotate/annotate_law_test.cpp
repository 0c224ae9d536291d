// Laws that hold for every table, tried on random ones.
#include <array>
#include <cstdint>
#include <random>
#include <string_view>
#include <tuple>

#include <doctest/doctest.h>

#include "tests/trace/annotate/trace_sketch.h"
#include "tests/trace/support/confusion.h"
#include "trace/annotate/annotate.h"

namespace {

using foretrace::EventId;
using foretrace::make_id;
using foretrace::Phase;
using foretrace::TrackId;
using foretrace::trace::annotate;
using foretrace::trace::Annotation;
using foretrace::trace::EventKind;
using foretrace::trace::EventTable;
using foretrace::trace::TraceSketch;

constexpr std::array<std::string_view, 18> names = {"ProfilerStep#3",
                                                    "## forward ##",
                                                    "## backward ##",
                                                    "Optimizer.step#SGD.step",
                                                    "enumerate(DataLoader)#_X.__next__",
                                                    "aten::mm",
                                                    "aten::zero_",
                                                    "aten::_foreach_add_",
                                                    "aten::item",
                                                    "MmBackward0",
                                                    "torch::autograd::AccumulateGrad",
                                                    "nn.Module: Linear_0",
                                                    "nn.Module: Net_0",
                                                    "layer1.0.conv",
                                                    "c10d::allreduce_",
                                                    "ncclDevKernel_AllReduce",
                                                    "Memcpy HtoD (Pinned -> Device)",
                                                    ""};

/// Events that overlap in any way, with links of every kind.
EventTable random_table(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&random](std::size_t n) { return static_cast<std::uint32_t>(random() % n); };
  TraceSketch sketch;
  for (const std::int32_t rank : {0, 1}) {
    for (std::int64_t t = 1; t <= 3; ++t) sketch.thread(t, rank);
    sketch.stream(7, rank);
  }
  constexpr std::array kinds = {EventKind::cpu_op,   EventKind::user_annotation,
                                EventKind::runtime,  EventKind::python_function,
                                EventKind::overhead, EventKind::kernel,
                                EventKind::copy,     EventKind::gpu_annotation,
                                EventKind::other};
  const std::uint32_t count = 20 + below(200);
  for (std::uint32_t i = 0; i < count; ++i) {
    const EventKind kind = kinds[below(kinds.size())];
    const std::int64_t start_ns = below(500);
    const std::int64_t length_ns = below(4) == 0 ? below(300) : below(20);
    const EventId event = sketch.add(kind, make_id<TrackId>(below(8)), names[below(names.size())],
                                     {start_ns, start_ns + length_ns});
    sketch.table().correlation.back() = below(40);
    if (kind == EventKind::cpu_op && below(2) == 0) {
      sketch.table().sequence_numbers.push_back(
          {event, below(30), static_cast<std::int64_t>(below(3)) - 1});
    }
    if (below(6) == 0) {
      sketch.flow(below(8), make_id<TrackId>(below(8)), start_ns, below(2) == 0);
    }
  }
  return sketch.table();
}

}  // namespace

TEST_CASE("annotate laws: every event is covered, regions never overlap, modules form a tree") {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const EventTable table = random_table(seed);
    const Annotation annotation = annotate(table);
    REQUIRE(annotation.phase.size() == table.size());
    REQUIRE(annotation.layer.size() == table.size());
    REQUIRE(annotation.operator_event.size() == table.size());
    bool is_consistent = true;
    for (std::size_t i = 0; i < table.size(); ++i) {
      const bool is_known = annotation.phase[i] != Phase::unknown;
      const bool has_reason = annotation.evidence[i] != foretrace::trace::PhaseEvidence::none;
      is_consistent = is_consistent && is_known == has_reason &&
                      annotation.layer[i] < annotation.modules.size();
    }
    CHECK_MESSAGE(is_consistent, "seed ", seed);
    for (std::size_t m = 1; m < annotation.modules.size(); ++m) {
      is_consistent = is_consistent && annotation.modules[m].parent < m;
    }
    CHECK_MESSAGE(is_consistent, "seed ", seed);
    for (std::size_t r = 1; r < annotation.regions.size(); ++r) {
      const auto& a = annotation.regions[r - 1];
      const auto& b = annotation.regions[r];
      const bool is_sorted = a.track < b.track || (a.track == b.track && a.end_ns <= b.start_ns);
      is_consistent = is_consistent && is_sorted && b.start_ns < b.end_ns;
    }
    CHECK_MESSAGE(is_consistent, "seed ", seed);
  }
}

TEST_CASE("annotate laws: later by an hour and twice as long, the phases and layers stay") {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const EventTable table = random_table(seed);
    EventTable moved = table;
    const auto move = [](std::int64_t time_ns) { return 2 * time_ns + 3'600'000'000'000; };
    moved.info.resolution_ns *= 2;
    for (std::size_t i = 0; i < table.size(); ++i) {
      moved.start_ns[i] = move(table.start_ns[i]);
      moved.duration_ns[i] = 2 * table.duration_ns[i];
    }
    for (auto& flow : moved.flows) flow.time_ns = move(flow.time_ns);
    const Annotation before = annotate(table);
    const Annotation after = annotate(moved);
    CHECK_MESSAGE(before.phase == after.phase, "seed ", seed);
    CHECK_MESSAGE(before.evidence == after.evidence, "seed ", seed);
    CHECK_MESSAGE(before.layer == after.layer, "seed ", seed);
  }
}

TEST_CASE("confusion: cells count operators and device time, communication stands outside") {
  TraceSketch sketch;
  const TrackId main = sketch.thread(1);
  const TrackId stream = sketch.stream(7);
  sketch.annotation(main, "## optimizer ##", {0, 100});
  sketch.annotation(main, "Optimizer.step#SGD.step", {10, 40});
  sketch.op(main, "aten::add_", {11, 20});
  sketch.launch(main, 12, 1);
  sketch.op(main, "c10d::allreduce_", {21, 30});
  sketch.annotation(main, "## backward ##", {200, 300});
  sketch.annotation(main, "Optimizer.step#Fused.step", {210, 240});
  sketch.op(main, "aten::mul_", {211, 220});
  sketch.annotation(main, "Optimizer.step#Alone.step", {400, 440});
  sketch.op(main, "my::thing", {401, 402});
  sketch.kernel(stream, "axpy", {50, 57}, 1);
  using foretrace::trace::PhaseEvidence;
  const auto confusion =
      foretrace::trace::compare_without(sketch.table(), PhaseEvidence::optimizer);
  // Agreed: add_ and its kernel of 7 ns. Disagreed: mul_, which a range calls backward. Undecided:
  // my::thing. allreduce_ is communication on both sides.
  CHECK(confusion.agreed().count == 2);
  CHECK(confusion.agreed().device_ns == 7);
  CHECK(confusion.disagreed().count == 1);
  CHECK(confusion.undecided().count == 1);
  CHECK(agreement_by_count(confusion) == doctest::Approx(2.0 / 3.0));
  CHECK(agreement_by_time(confusion) == 1.0);
}
