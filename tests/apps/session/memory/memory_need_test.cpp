#include "apps/session/replay/memory_need.h"

#include <filesystem>
#include <memory>
#include <utility>

#include <doctest/doctest.h>

#include "apps/session/replay/analysis.h"
#include "sim/engine/pull/pull.h"
#include "sim/graph/change.h"
#include "tests/apps/questions/answers_support.h"
#include "tests/apps/support/program.h"
#include "tests/configs.h"
#include "tests/sim/graph/text_graph.h"

namespace foretrace {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

MemoryNeed need_of(std::int64_t bytes) {
  MemoryNeed need{.live_bytes = bytes};
  need.reserved.fresh_bytes = bytes;
  need.reserved.expected_bytes = bytes;
  return need;
}

Accelerator accelerator(const char* name) {
  auto found = test::find_accelerator(name);
  REQUIRE(found.ok());
  return *std::move(found);
}

TEST_CASE("memory need: a device that a what-if is the first to put tensors on") {
  const auto run = test::loaded(test::demo_memory_trace);
  const TaskGraph& recorded = run.recording.graph();
  constexpr std::int64_t bytes = std::int64_t{8} << 30;
  Change change;
  change.new_tensors.push_back({.bytes = bytes,
                                .rank = 0,
                                .device = 7,
                                .category = TensorCategory::activation,
                                .allocated_in = TaskId{0}});
  const auto changed = commit(recorded, change);
  REQUIRE_MESSAGE(changed.ok(), changed.error().message);
  const TaskGraph& graph = changed->graph;
  const Timeline timeline = simulate(graph);

  const MemoryModel model(run.recording, run.replay.run.timeline);
  const auto need = model.need(graph, timeline);
  REQUIRE(need.has_value());
  CHECK(need->device == 7);
  CHECK(need->live_bytes == bytes);
  CHECK(need->reserved.fresh_bytes >= bytes);
  CHECK(need->reserved.recorded_bytes == -1);

  const HeldMemory held = model.held(graph, timeline);
  REQUIRE(held.reserved.size() == 2);
  CHECK(held.reserved[1].expected_bytes == held.reserved[1].fresh_bytes);
}

/// Thread h frees A before thread t asks for B, but only just: another engine may see both live.
Recording two_threads() {
  constexpr std::int64_t bytes = std::int64_t{256} << 20;
  const TaskGraph graph = test::graph("h:a(10) h:f(10) t:c(10,50)");
  auto context = std::make_shared<GraphContext>(graph.context());
  const auto add = [&](TaskId from, TaskId to) {
    context->tensors.push_back({.bytes = bytes,
                                .rank = 0,
                                .device = 0,
                                .category = TensorCategory::activation,
                                .allocated_in = from,
                                .freed_in = to});
  };
  add(test::task(graph, "a"), test::task(graph, "f"));
  add(test::task(graph, "c"), none<TaskId>);
  Recording recording;
  recording.built.graph = TaskGraph(graph.shared_topology(), graph.shared_columns(),
                                    std::move(context), graph.weights());
  trace::DeviceMemory memory;
  memory.rank = 0;
  memory.graph_device = 0;
  memory.peak_reserved_bytes = std::int64_t{1} << 30;
  recording.built.memory.push_back(memory);
  return recording;
}

TEST_CASE("memory need: an unchanged run reserves what was recorded, whichever engine ran it") {
  const Recording recording = two_threads();
  const TaskGraph& graph = recording.graph();
  Timeline other = simulate(graph);
  other.points[2 * index(test::task(graph, "a")) + 1] = 100;  // after B was asked for, at 50
  other.points[2 * index(test::task(graph, "f"))] = 100;
  other.points[2 * index(test::task(graph, "f")) + 1] = 110;
  const HeldMemory held = MemoryModel(recording, other).held(graph, other);
  REQUIRE(held.curves.at(0).peak_bytes == std::int64_t{512} << 20);
  CHECK(held.reserved.at(0).expected_bytes == std::int64_t{1} << 30);
}

TEST_CASE("memory need: shapes that tell little are refused, and what they tell is the least") {
  Recording recording = two_threads();
  CHECK(memory_coverage(recording.built) == 1);
  trace::DeviceMemory& memory = recording.built.memory.front();
  memory.known_share = 0.3;  // recorded memory needs no shapes
  CHECK(memory_coverage(recording.built) == 1);
  CHECK(check_tensors(recording, "memory to fit").ok());
  memory.is_from_shapes = true;
  const Status refused = check_tensors(recording, "memory to fit");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("shapes give the output size of 30 % of its kernels") !=
        std::string::npos);
  memory.known_share = 0.55;
  CHECK(check_tensors(recording, "memory to fit").ok());
  const Timeline timeline = simulate(recording.graph());
  const auto need = MemoryModel(recording, timeline).need(recording.graph(), timeline);
  REQUIRE(need);
  CHECK(need->is_least);
}

TEST_CASE("device fit: a run that moves to a device with too little memory does not fit") {
  Recording recording;
  recording.accelerator = accelerator("h100_sxm");
  const MemoryTarget target = target_of(recording, need_of(36 * gib), accelerator("rtx_4090"));
  CHECK_FALSE(target.fits(need_of(36 * gib)));
  // The context of a driver takes 600 MiB at most.
  CHECK(text_of_misfit(target, need_of(36 * gib)) ==
        "does not fit: needs 36.6 GiB, has 24.0 GiB (rtx_4090)");
  CHECK(target.fits(need_of(20 * gib)));
}

TEST_CASE("device fit: the recorded device holds what it held, and not more than it has") {
  Recording recording;
  recording.accelerator = accelerator("rtx_4090");
  // Recorded with next to all of the memory: with the largest context it would not fit, but it did.
  const MemoryNeed before = need_of(24 * gib - 1);
  const MemoryTarget target = target_of(recording, before, *recording.accelerator);
  CHECK(target.fits(before));
  CHECK(target.fits(need_of(20 * gib)));
  CHECK_FALSE(target.fits(need_of(25 * gib)));
}

TEST_CASE("device fit: without memory or a known device nothing is said") {
  const auto run = test::loaded(FORETRACE_SOURCE_DIR "/tests/fixtures/job/rank0.json.gz");
  const Result<Answer> answer = run.session.ask({});
  REQUIRE(answer.ok());
  CHECK_FALSE(answer->target());
  CHECK(answer->fits());
}

TEST_CASE("whatif: what does not fit is said first, with exit code 1") {
  const std::string trace = FORETRACE_SHARED_DIR "/traces/triosim/vgg13_h100_kineto.json.gz";
  if (!std::filesystem::exists(trace)) {
    MESSAGE("skipped: no ", trace);
    return;
  }
  const test::Ran ran = test::run_program("whatif '" + trace + "' --accelerator rtx_4090 --quiet");
  CHECK(ran.code == 1);
  CHECK(ran.out.rfind("does not fit: needs ", 0) == 0);
  CHECK(ran.out.find("has 24.0 GiB (rtx_4090)") != std::string::npos);
  CHECK(test::run_program("whatif '" + trace + "' --accelerator h200_sxm --quiet").code == 0);
}

}  // namespace
}  // namespace foretrace
