// Steps of real pipelined jobs with the figures that their analysis published: the replay of each
// step, its measured length, and the step of a job without stragglers.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "sim/core/whole.h"
#include "sim/engine/pull/pull.h"
#include "tests/validation/studies/row_numbers.h"
#include "tests/validation/tables/recorded_pipeline.h"
#include "tests/validation/tables/tables.h"

namespace foretrace::table_readers::pipeline_trace_parts {
namespace {

/// The recording leaves out what hosts delay launches by: 0.7 and 1.9 % of these jobs' steps.
constexpr double least_delay = 1.0;
constexpr double most_delay = 1.03;
/// Of a replay that the analysis published itself; its durations are rounded.
constexpr double replay_error = 1e-3;

constexpr double most_us = 1e12;
constexpr double most_workers = 1e4;  ///< data ranks, stages
constexpr double most_operations = 1e6;

using Step = std::vector<PipelineOperation>;

struct Recorded {
  std::map<std::int64_t, Step> steps;
  std::uint32_t stages = 0;
  std::array<std::int64_t, pipeline_op_count> ideal_ns{};
};

Error broken(const TruthTable& table, const std::string& what) {
  return Error{ErrorCode::bad_format, fmt::format("{}: {}", table.path, what)};
}

std::int64_t ns_of(double us) { return to_whole(us * 1e3); }

/// Which operation each index of the table means, and how long it takes without stragglers.
Result<std::vector<PipelineOp>> read_ops(const TruthTable& table, Recorded& recorded) {
  const ConfigValue* names = table.fixed("ops");
  const ConfigValue* ideal = table.fixed("ideal_durations_us");
  if (names == nullptr || ideal == nullptr) {
    return broken(table, "/fixed: expected ops and ideal_durations_us");
  }
  std::vector<PipelineOp> ops;
  for (const ConfigValue& name : names->items) {
    const auto op = pipeline_op(name.text);
    if (!op.ok()) return broken(table, "/fixed/ops: " + op.error().message);
    ops.push_back(*op);
    if (ideal->find(name.text) == nullptr) continue;
    const auto us = number_in({table.columns, *ideal}, name.text, 0, most_us);
    if (!us.ok()) return broken(table, "/fixed/ideal_durations_us/" + us.error().message);
    recorded.ideal_ns[static_cast<std::size_t>(*op)] = ns_of(*us);
  }
  return ops;
}

Result<Recorded> read_recorded(const TruthTable& table) {
  Recorded recorded;
  FORETRACE_TRY(const auto ops, read_ops(table, recorded));
  for (std::size_t i = 0; i < table.size(); ++i) {
    const TruthRow row = table.row(i);
    RowNumbers numbers(row);
    const double step = numbers.count("step", most_us, 0);
    const double data_rank = numbers.count("dp", most_workers, 0);
    const double stage = numbers.count("stage", most_workers, 0);
    const double op = numbers.count("op", static_cast<double>(ops.size()) - 1, 0);
    const double number = numbers.count("seq", most_operations, 0);
    const double start_us = numbers.number("start", 0, most_us);
    const double duration_us = numbers.number("dur", 0, most_us);
    if (!numbers.status().ok()) {
      return broken(table, fmt::format("/rows/{}/{}", i, numbers.status().error().message));
    }
    PipelineOperation o;
    o.data_rank = static_cast<std::uint32_t>(data_rank);
    o.stage = static_cast<std::uint32_t>(stage);
    o.op = ops[static_cast<std::size_t>(op)];
    o.number = static_cast<std::uint32_t>(number);
    o.start_ns = ns_of(start_us);
    o.duration_ns = ns_of(duration_us);
    recorded.stages = std::max(recorded.stages, o.stage + 1);
    recorded.steps[static_cast<std::int64_t>(step)].push_back(o);
  }
  if (recorded.steps.empty()) return broken(table, "/rows: expected steps");
  return recorded;
}

/// Seconds.
Result<double> length_of(const Step& step, std::uint32_t stages) {
  FORETRACE_TRY(const auto graph, recorded_pipeline(step, stages));
  return static_cast<double>(simulate(graph).span_ns) * 1e-9;
}

Step without_stragglers(Step step, const Recorded& recorded) {
  for (PipelineOperation& o : step) {
    o.duration_ns = recorded.ideal_ns[static_cast<std::size_t>(o.op)];
  }
  return step;
}

/// Every operation at the mean of its kind and worker over all steps: what a simulation says that
/// knows how fast workers are, and no single operation.
Step at_worker_means(Step step, const Recorded& recorded) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, PipelineOp>, std::pair<double, double>> sums;
  for (const auto& [number, other] : recorded.steps) {
    for (const PipelineOperation& o : other) {
      auto& [ns, count] = sums[{o.data_rank, o.stage, o.op}];
      ns += static_cast<double>(o.duration_ns);
      ++count;
    }
  }
  for (PipelineOperation& o : step) {
    const auto& [ns, count] = sums.at({o.data_rank, o.stage, o.op});
    o.duration_ns = to_whole(ns / count);
  }
  return step;
}

TablePoint point_of(std::size_t row, std::string column, double predicted, double measured) {
  const bool is_measured = column == "measured";
  const double low = is_measured ? least_delay : 1 - replay_error;
  const double high = is_measured ? most_delay : 1 + replay_error;
  return {row, std::move(column), predicted, low * predicted, high * predicted, measured};
}

Result<std::vector<TableResult>> read(const TruthTable& table, TableInputs& inputs) {
  static_cast<void>(inputs);
  FORETRACE_TRY(const auto recorded, read_recorded(table));
  const ConfigValue* expected = table.document.find("expected");
  const ConfigValue* steps = expected == nullptr ? nullptr : expected->find("per_step");
  if (steps == nullptr) return broken(table, "/expected/per_step: missing key");
  TableResult replay;
  replay.name = table.id;
  TableResult means;
  means.name = table.id + ".worker_means";
  replay.unit = means.unit = "s";
  for (std::size_t i = 0; i < steps->keys.size(); ++i) {
    const auto step = recorded.steps.find(std::strtoll(steps->keys[i].c_str(), nullptr, 10));
    if (step == recorded.steps.end()) {
      replay.skipped.push_back({i, "its operations are not in the table"});
      continue;
    }
    const auto length = length_of(step->second, recorded.stages);
    if (!length.ok()) return broken(table, length.error().message);
    RowNumbers published({table.columns, steps->items[i]});
    const auto without_delay = published.optional_measured("nodelay");
    const auto measured = published.optional_measured("measured");
    if (!published.status().ok()) {
      replay.skipped.push_back({i, published.status().error().message});
      continue;
    }
    if (without_delay) replay.points.push_back(point_of(i, "nodelay", *length, *without_delay));
    if (measured) replay.points.push_back(point_of(i, "measured", *length, *measured));
    const auto mean = length_of(at_worker_means(step->second, recorded), recorded.stages);
    if (mean.ok() && without_delay) {
      means.points.push_back({i, "nodelay", *mean, 0.9 * *mean, 1.1 * *mean, *without_delay});
    }
  }
  RowNumbers published({table.columns, *expected});
  if (const auto ideal = published.optional_measured("ideal_s")) {
    if (!published.status().ok()) return broken(table, published.status().error().message);
    const auto length =
        length_of(without_stragglers(recorded.steps.begin()->second, recorded), recorded.stages);
    if (!length.ok()) return broken(table, length.error().message);
    replay.points.push_back(point_of(steps->keys.size(), "ideal_s", *length, *ideal));
  }
  means.notes.emplace_back(
      "every operation at the mean of its kind and worker over the steps of this table: how much "
      "single operations matter, not a prediction of an unseen job");
  return std::vector<TableResult>{std::move(replay), std::move(means)};
}

constexpr std::array<std::string_view, 1> names = {"pipeline_trace_*"};

}  // namespace

extern constexpr TableReaderInfo info = {
    "pipeline_trace", "recorded steps of pipelined jobs, replayed and without stragglers", names,
    read};

}  // namespace foretrace::table_readers::pipeline_trace_parts
