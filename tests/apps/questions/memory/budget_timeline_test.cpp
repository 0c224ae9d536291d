#include "apps/questions/memory/budget_timeline.h"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "apps/session/recording/load.h"

namespace foretrace {
namespace {

// Two steps of four maps of 4 MiB on top of 16 MiB that are there before.
BudgetAnswer ask(const char* when_full) {
  auto loaded = load(FORETRACE_SOURCE_DIR "/tests/golden/simulate_in_a_memory_budget/trace.json");
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
  auto choice = parse_when_full(when_full);
  REQUIRE_MESSAGE(choice.ok(), choice.error().message);
  auto answer =
      run_in_budget(loaded->graph(), {{.bytes = std::int64_t{28} << 20}, *std::move(choice)}, {});
  REQUIRE_MESSAGE(answer.ok(), answer.error().message);
  return *std::move(answer);
}

std::size_t count(const TaskGraph& graph, std::string_view name) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    found += graph.name(make_id<TaskId>(i)) == name ? 1 : 0;
  }
  return found;
}

std::size_t starting_with(const ChromeInstants& instants, std::string_view word) {
  return static_cast<std::size_t>(
      std::count_if(instants.list.begin(), instants.list.end(),
                    [&](const ChromeInstant& i) { return i.name.rfind(word, 0) == 0; }));
}

TEST_CASE("budget timeline: one map too many leaves and is made again in every step") {
  const BudgetAnswer answer = ask("dtr");
  REQUIRE(answer.run);
  const auto timeline = budget_timeline(*answer.run);
  REQUIRE_MESSAGE(timeline.ok(), timeline.error().message);
  CHECK(count(timeline->executed.graph, "recompute: gemm_fw_0") == 2);
  CHECK(count(timeline->executed.graph, "recompute: cudaLaunchKernel") == 2);
  CHECK(timeline->executed.timeline.span_ns == answer.span_after_ns);
  REQUIRE(timeline->instants.size() == 1);
  CHECK(starting_with(timeline->instants[0], "evict aten::mm") == answer.counts.evictions);
  CHECK(starting_with(timeline->instants[0], "bring back aten::mm") == 2);
}

TEST_CASE("budget timeline: live bytes go up to the peak of the run and never above the budget") {
  const BudgetAnswer answer = ask("dtr");
  REQUIRE(answer.run);
  const auto timeline = budget_timeline(*answer.run);
  REQUIRE(timeline.ok());
  REQUIRE(timeline->counters.size() == 1);
  std::int64_t peak = 0;
  std::int64_t before = 0;
  for (const ChromeCounter::Sample& sample : timeline->counters[0].samples) {
    peak = std::max(peak, sample.value);
    CHECK(sample.time_ns >= before);
    before = sample.time_ns;
  }
  CHECK(peak == answer.devices[0].peak_bytes);
  CHECK(peak <= answer.devices[0].budget_bytes);
  CHECK(timeline->counters[0].samples.front().value == 16 << 20);
}

TEST_CASE("budget timeline: copies lie on streams of their own") {
  const BudgetAnswer answer = ask("delta:director=swap");
  REQUIRE(answer.run);
  const auto timeline = budget_timeline(*answer.run);
  REQUIRE(timeline.ok());
  const TaskGraph& graph = timeline->executed.graph;
  CHECK(count(graph, "swap to host") == answer.counts.swaps);
  CHECK(count(graph, "swap to device") > 0);
  CHECK(count(graph, "recompute: gemm_fw_0") == 0);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (graph.name(task) == "swap to host") {
      CHECK(graph.lane(task).name == "swap to host");
      CHECK(timeline->executed.is_appended[i]);
    }
  }
}

}  // namespace
}  // namespace foretrace
