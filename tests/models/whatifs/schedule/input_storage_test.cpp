#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& input_storage;
}

using foretrace::ErrorCode;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::Given;
using foretrace::test::span_ns;
using foretrace::test::ToyRun;
using foretrace::what_ifs::input_storage;

namespace {

constexpr const char* in_process = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
constexpr const char* in_workers = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";

/// Steps of a kernel of 2 ms that the host waits for, with another stream that waits for it and
/// runs into the next step; before each a batch that takes `loading` ns, and 1 ms of other host
/// work.
foretrace::TaskGraph run_of(int steps, std::int64_t loading, const char* label = in_process) {
  ToyRun run;
  const auto side = run.add_stream(9);
  for (int i = 0; i < steps; ++i) {
    const auto first = run.mark("step begin", loading + 1'000'000);
    run.label(first, label, loading);
    const auto kernel = run.kernel({.name = "conv", .duration_ns = 2'000'000});
    run.bystander(side, kernel, 500'000);
    run.synchronize();
  }
  return run.build();
}

/// 10 MB per batch; nothing to take one that is ready.
Given given(const std::string& bandwidth, const std::string& cached, const std::string& workers,
            const std::string& prepare = "0 ms") {
  return {{"batch_bytes", "10 MB"}, {"bandwidth", bandwidth}, {"cached", cached},
          {"workers", workers},     {"prepare", prepare},     {"ready", "0 ms"}};
}

std::int64_t span_after(const foretrace::TaskGraph& graph, const Given& parameters) {
  return span_ns(after(graph, input_storage, parameters));
}

}  // namespace

TEST_CASE("input_storage: what the step takes remains where storage and workers keep up") {
  const auto graph = run_of(20, 6'000'000);
  CHECK(span_ns(graph) == 20 * 9'000'000 + 500'000);
  // 6 ms by 4 workers and 1 ms of reading: (1 + 6) / 4 = 1.75 ms per batch, a step takes 3 ms.
  CHECK(span_after(graph, given("10 GB/s", "0", "4")) == 20 * 3'000'000 + 500'000);
}

TEST_CASE("input_storage: the slowest stage decides") {
  const auto graph = run_of(21, 6'000'000);
  // The first batch is there; 20 more at the distance of the slowest stage; one step.
  const std::int64_t last = 3'500'000;
  // Storage: 10 MB in 5 ms.
  CHECK(span_after(graph, given("2 GB/s", "0", "16")) == 20 * 5'000'000 + last);
  // Half of it cached: 2.5 ms, less than the step.
  CHECK(span_after(graph, given("2 GB/s", "0.5", "16")) == 21 * 3'000'000 + 500'000);
  // Two workers, each (2 + 6) ms per batch.
  CHECK(span_after(graph, given("5 GB/s", "0", "2")) == 20 * 4'000'000 + last);
  // One worker reads and prepares in turns.
  CHECK(span_after(graph, given("5 GB/s", "0", "1")) == 20 * 8'000'000 + last);
  // 12 ms of preparing instead, everything cached, by three.
  CHECK(span_after(graph, given("5 GB/s", "1", "3", "12 ms")) == 20 * 4'000'000 + last);
}

TEST_CASE("input_storage: more bandwidth, cache or workers never make a step longer") {
  const auto graph = run_of(30, 6'000'000);
  std::int64_t before = INT64_MAX;
  for (const char* const bandwidth : {"0.2 GB/s", "0.5 GB/s", "1 GB/s", "2 GB/s", "100 GB/s"}) {
    const std::int64_t span = span_after(graph, given(bandwidth, "0", "3"));
    CHECK(span <= before);
    before = span;
  }
  before = INT64_MAX;
  for (const char* const cached : {"0", "0.25", "0.5", "0.9", "1"}) {
    const std::int64_t span = span_after(graph, given("0.5 GB/s", cached, "3"));
    CHECK(span <= before);
    before = span;
  }
  before = INT64_MAX;
  for (const char* const workers : {"1", "2", "3", "4", "8"}) {
    const std::int64_t span = span_after(graph, given("4 GB/s", "0", workers));
    CHECK(span <= before);
    before = span;
  }
  // All cached is storage of any rate.
  CHECK(span_after(graph, given("0.001 GB/s", "1", "3")) ==
        span_after(graph, given("1000000 GB/s", "1", "3")));
}

TEST_CASE("input_storage: workers of a recording do not tell what they take") {
  const auto graph = run_of(5, 6'000'000, in_workers);
  const auto declined = apply_to(graph, input_storage, given("1 GB/s", "0", "4"));
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::missing_cost);
  CHECK(apply_to(graph, input_storage, given("1 GB/s", "0", "4", "20 ms")).ok());
  const auto other =
      apply_to(run_of(5, 6'000'000, "aten::conv2d"), input_storage, given("1 GB/s", "0", "4"));
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().code == ErrorCode::no_match);
}

TEST_CASE("input_storage: only regions that are known to load tell what a worker takes") {
  for (const char* const label :
       {"## wait_for_batch ##", "wait data_load", "DataLoaderIter.__next__", "wait get_batch",
        "prefetch get_batch"}) {
    CAPTURE(label);
    const auto graph = run_of(5, 6'000'000, label);
    const auto declined = apply_to(graph, input_storage, given("1 GB/s", "0", "4"));
    REQUIRE_FALSE(declined.ok());
    CHECK(declined.error().code == ErrorCode::missing_cost);
    CHECK(declined.error().message.find(label) != std::string::npos);
    CHECK(apply_to(graph, input_storage, given("1 GB/s", "0", "4", "20 ms")).ok());
  }
  for (const char* const label : {"data_load", "## dataload ##", "load_batch"}) {
    CAPTURE(label);
    CHECK(apply_to(run_of(5, 6'000'000, label), input_storage, given("1 GB/s", "0", "4")).ok());
  }
}

TEST_CASE("input_storage: get_batch loads in the process, unless the recording shows workers") {
  for (const char* const label : {"next_batch", "## get_batch ##", "fetch_batch"}) {
    CAPTURE(label);
    const auto graph = run_of(20, 6'000'000, label);
    const auto change = apply_to(graph, input_storage, given("10 GB/s", "0", "4"));
    REQUIRE_MESSAGE(change.ok(), change.error().message);
    REQUIRE(change->doubts.size() == 1);
    CHECK(change->doubts[0].text.find("in the process, since no workers are recorded") !=
          std::string::npos);
    CHECK(span_after(graph, given("10 GB/s", "0", "4")) == 20 * 3'000'000 + 500'000);
    const auto told = apply_to(graph, input_storage, given("10 GB/s", "0", "4", "6 ms"));
    REQUIRE(told.ok());
    CHECK(told->doubts.empty());
  }
  // A loader with workers inside of the region, or a thread of one.
  for (const bool in_region : {true, false}) {
    CAPTURE(in_region);
    ToyRun run;
    const auto side = run.add_stream(9);
    for (int i = 0; i < 3; ++i) {
      const auto first = run.mark("step begin", 7'000'000);
      run.label(first, "get_batch", 1'000'000);
      if (in_region) run.label(first, in_workers, 5'000'000);
      run.bystander(side, run.kernel({.name = "conv", .duration_ns = 2'000'000}), 500'000);
    }
    if (!in_region) {
      run.builder().add_lane(
          {.kind = foretrace::LaneKind::host_thread, .number = 5, .name = "pt_data_worker"});
    }
    const auto declined = apply_to(run.build(), input_storage, given("1 GB/s", "0", "4"));
    REQUIRE_FALSE(declined.ok());
    CHECK(declined.error().code == ErrorCode::missing_cost);
  }
}

// The profile of the Synergy scheduler: throughput of 12 models by processors per device. One
// processor gives what a batch takes to prepare, 24 what the step takes; the others are predicted.
TEST_CASE("input_storage: published throughput by processors") {
  const std::string path =
      FORETRACE_SHARED_DIR "/validation/input_pipeline_cpu_memory_synergy.json";
  if (!std::filesystem::exists(path)) {
    MESSAGE("SKIPPED: no " << path);
    return;
  }
  const auto table = nlohmann::json::parse(std::ifstream(path));
  std::map<std::string, std::map<int, double>> throughput;
  for (const auto& row : table["rows"]) {
    if (row[4] == 250) throughput[row[0]][row[3]] = row[5];
  }
  double sum = 0;
  int bound = 0;
  for (const auto& [model, by_processors] : throughput) {
    const std::string& shown = model;  // clang 14 captures no binding
    CAPTURE(shown);
    const double one = by_processors.at(1);
    const double most = by_processors.at(24);
    if (one == most) continue;  // never waits for its input
    const auto prepare = std::llround(1e8 / one);
    // The kernel and the other host work take 3 ms of a step.
    ToyRun run;
    for (int i = 0; i < 60; ++i) {
      const auto call = run.mark("step begin", prepare);
      run.label(call, in_process, prepare);
      run.host_task("step", foretrace::TaskKind::host, std::llround(1e8 / most), 0);
    }
    const auto graph = run.build();
    for (const auto& [processors, measured] : by_processors) {
      if (processors == 1 || processors == 24) continue;
      const auto span = span_after(graph, given("1000 GB/s", "1", std::to_string(processors)));
      const double predicted = 60e8 / static_cast<double>(span);
      sum += std::abs(predicted / measured - 1);
      ++bound;
    }
  }
  REQUIRE(bound == 49);
  CHECK(sum / bound < 0.08);
  MESSAGE("mean error " << 100 * sum / bound << " % of " << bound << " rows");
}
