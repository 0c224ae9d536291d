// Laws about parameters that scale something: which way the step goes, and that it does not jump.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "apps/session/recording/load.h"
#include "models/whatifs/what_if.h"
#include "sim/engine/pull/pull.h"
#include "tests/configs.h"
#include "tests/laws/identity_settings.h"
#include "tests/laws/training_run.h"
#include "tests/models/training_job.h"
#include "tests/models/whatifs/examples.h"

using namespace foretrace;

namespace {

using Given = std::vector<std::pair<std::string, std::string>>;

/// A graph and what it ran on.
struct Run {
  TaskGraph graph;
  std::optional<Accelerator> on;
  std::string name;
  [[nodiscard]] const Accelerator* accelerator() const { return on ? &*on : nullptr; }
};

/// A language model that answers: a token's product and a prompt's, in 16 bit.
TaskGraph answering_run() {
  test::ToyRun run;
  run.kernel({.name = "token_fp16_s16816gemm_fp16_64x64",
              .duration_ns = 102'000,
              .operator_name = "aten::mm",
              .shapes = "[[1, 8192], [8192, 8192]]"});
  run.kernel({.name = "prompt_fp16_s16816gemm_fp16_256x128",
              .duration_ns = 1'000'000,
              .operator_name = "aten::mm",
              .shapes = "[[8192, 8192], [8192, 8192]]"});
  run.synchronize();
  return run.build();
}

/// Four ranks that sum up 80 MB of gradients in every step.
TaskGraph reducing_run() {
  return test::training_job(
      {.ranks = 4, .reduces = {{.bytes = 80'000'000, .ns = 3'020'000, .after = 6}}});
}

std::vector<Run> some_runs() {
  std::vector<Run> runs;
  const auto a100 = test::find_accelerator("a100_sxm_40gb");
  REQUIRE(a100.ok());
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    test::Choices choices(seed);
    auto graph = test::TrainingRun(choices).build();
    REQUIRE(graph.ok());
    runs.push_back({*std::move(graph), *a100, fmt::format("seed {}", seed)});
  }
  runs.push_back({answering_run(), *a100, "a model that answers"});
  for (const char* file : {"examples/traces/demo_generated_cnn_memory.json.gz",
                           "examples/traces/h200/gpt2.baseline.ftr.gz",
                           "examples/traces/h200/loader.workers_0.ftr.gz", "tests/fixtures/job"}) {
    auto recording =
        load(FORETRACE_SOURCE_DIR "/" + std::string(file), {.catalogue = test::shipped()});
    REQUIRE_MESSAGE(recording.ok(), recording.error().message);
    runs.push_back({recording->built.graph, recording->accelerator, file});
  }
  return runs;
}

/// Those of some_runs(), and ranks that exchange much.
std::vector<Run> all_runs() {
  std::vector<Run> runs = some_runs();
  runs.push_back({reducing_run(), runs.front().on, "ranks that reduce"});
  return runs;
}

/// Nothing where the what-if declines.
std::optional<std::int64_t> span_with(const Run& run, const WhatIfInfo& info, const Given& given) {
  const auto values = ParamValues::parse(info.name, info.params, given);
  REQUIRE_MESSAGE(values.ok(), values.error().message);
  const auto change = info.apply({run.graph, run.accelerator(), *test::shipped()}, *values);
  if (!change.ok()) return std::nullopt;
  const auto committed = commit(run.graph, *change, Checks::none);
  REQUIRE_MESSAGE(committed.ok(), committed.error().message);
  return simulate(committed->graph).span_ns;
}

Given with(Given given, std::string_view name, const std::string& value) {
  const auto at =
      std::find_if(given.begin(), given.end(), [&](const auto& one) { return one.first == name; });
  if (at != given.end()) given.erase(at);
  given.emplace_back(name, value);
  return given;
}

/// Values to try of a parameter, in ascending order. 0 often means "not given".
std::vector<std::string> values_of(const ParamInfo& row) {
  std::vector<double> tried = {0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 1, 1.1, 1.5, 2, 3, 4, 8};
  if (row.type == ParamType::integer) tried = {1, 2, 3, 4, 8};
  if (row.type == ParamType::time) tried = {1e2, 1e3, 1e4, 1e5, 1e6};
  if (row.type == ParamType::bandwidth) tried = {1e8, 1e9, 1e10, 1e11, 1e12};
  std::vector<std::string> texts;
  for (const double value : tried) {
    if (value < row.minimum || value > row.maximum) continue;
    texts.push_back(quantity_text(value, row.type));
  }
  return texts;
}

/// Sums of rounded times may differ by a nanosecond a task.
std::int64_t rounding_of(const Run& run) { return static_cast<std::int64_t>(run.graph.size()); }

/// How many values were compared with one before.
std::size_t check_trend(const WhatIfInfo& info, const Trend& trend, const Run& run) {
  std::size_t compared = 0;
  const Given example = test::example_of(info.name);
  std::optional<std::int64_t> before;
  for (const std::string& value : values_of(*trend.parameter)) {
    CAPTURE(value);
    const auto span = span_with(run, info, with(example, trend.parameter->name, value));
    if (!span) continue;
    if (before && trend.larger == Larger::is_slower) CHECK(*span + rounding_of(run) >= *before);
    if (before && trend.larger == Larger::is_faster) CHECK(*span <= *before + rounding_of(run));
    compared += before ? 1 : 0;
    before = span;
  }
  return compared;
}

/// The row at one end of its declared range, beside its default.
void check_declared(const WhatIfInfo& info, const ParamInfo& row, const Run& run) {
  const Given example = test::example_of(info.name);
  if (row.optimistic.empty()) return;
  const auto span = [&](std::string_view value) {
    return span_with(run, info, with(example, row.name, std::string(value)));
  };
  const auto fast = span(row.optimistic);
  const auto point = row.default_text.empty() ? std::nullopt : span(row.default_text);
  const auto slow = span(row.pessimistic.empty() ? row.default_text : row.pessimistic);
  if (fast && point) CHECK(*fast <= *point + rounding_of(run));
  if (point && slow) CHECK(*point <= *slow + rounding_of(run));
  if (fast && slow) CHECK(*fast <= *slow + rounding_of(run));
}

/// Values beside that of the identity, of a parameter that is a number.
void check_beside(const WhatIfInfo& info, const Run& run) {
  const auto identity = test::identity_of(info, run.graph, run.accelerator());
  if (!identity) return;
  const Given given = identity->parameters.texts();
  const auto at = span_with(run, info, given);
  if (!at) return;
  for (const ParamInfo& row : info.params) {
    const bool is_set =
        info.identity.setting.find(std::string(row.name) + "=") != std::string::npos;
    if (!is_set || row.type != ParamType::number) continue;
    for (const double away : {-1e-9, 1e-9}) {
      const double value = identity->parameters.number(row) + away;
      if (value < row.minimum || value > row.maximum) continue;
      CAPTURE(value);
      const auto beside =
          span_with(run, info, with(given, row.name, fmt::format("{:.12f}", value)));
      if (beside) CHECK(std::abs(*beside - *at) <= rounding_of(run));
    }
  }
}

}  // namespace

TEST_CASE("law: a larger value of a parameter never moves the step the other way") {
  std::map<std::string, std::size_t> compared;
  for (const Run& run : all_runs()) {
    CAPTURE(run.name);
    for (const WhatIfInfo* info : what_ifs::all()) {
      CAPTURE(std::string(info->name));
      for (const Trend& trend : info->trends) {
        CAPTURE(std::string(trend.parameter->name));
        compared[fmt::format("{}:{}", info->name, trend.parameter->name)] +=
            check_trend(*info, trend, run);
      }
    }
  }
  std::string never;
  for (const auto& [parameter, times] : compared) {
    if (times == 0) never.append(never.empty() ? "" : " ").append(parameter);
  }
  CHECK(never.empty());
}

TEST_CASE("law: nor does it on a real job whose ranks exchange much") {
  std::vector<std::string> files;
  for (int rank = 0; rank < 4; ++rank) {
    files.push_back(fmt::format(
        FORETRACE_SHARED_DIR "/traces/torchrec_dlrm_v100x4/fp32_a2a_rank{}.json.gz", rank));
    if (!std::filesystem::exists(files.back())) {
      MESSAGE("skipped: no real traces of a job");
      return;
    }
  }
  const auto recording = load_inputs(files, {.catalogue = test::shipped()});
  REQUIRE_MESSAGE(recording.ok(), recording.error().message);
  const Run run{recording->graph(), recording->accelerator, "job"};
  for (const WhatIfInfo* info : what_ifs::all()) {
    CAPTURE(std::string(info->name));
    const bool exchanges = info->name == "compress_communication" || info->name == "replicate" ||
                           info->name == "communication_scale";
    if (!exchanges) continue;
    for (const Trend& trend : info->trends) {
      CAPTURE(std::string(trend.parameter->name));
      CHECK(check_trend(*info, trend, run) > 0);
    }
  }
}

TEST_CASE("law: the optimistic end of a declared range is never slower than the other") {
  for (const Run& run : all_runs()) {
    CAPTURE(run.name);
    for (const WhatIfInfo* info : what_ifs::all()) {
      CAPTURE(std::string(info->name));
      for (const ParamInfo& row : info->params) {
        CAPTURE(std::string(row.name));
        check_declared(*info, row, run);
      }
    }
  }
}

// Not of ranks that reduce: a cost of compressing above 0 is a kernel, which takes a launch.
TEST_CASE("law: just beside its identity a what-if changes just about nothing") {
  for (const Run& run : some_runs()) {
    CAPTURE(run.name);
    for (const WhatIfInfo* info : what_ifs::all()) {
      CAPTURE(std::string(info->name));
      check_beside(*info, run);
    }
  }
}
