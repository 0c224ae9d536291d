// Tables of cluster schedulers: the policies of published simulators, replayed on their own jobs.
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tests/validation/studies/batch_rules.h"
#include "tests/validation/studies/fgd.h"
#include "tests/validation/studies/gavel.h"
#include "tests/validation/studies/pollux.h"
#include "tests/validation/studies/shockwave.h"
#include "tests/validation/studies/tiresias.h"
#include "tests/validation/tables/tables.h"

namespace foretrace::table_readers::schedulers_parts {
namespace {

using scheduling::TruthGap;
using scheduling::TruthPoint;
using scheduling::TruthScore;

/// Another table that a study needs.
Result<const TruthTable*> companion(const TableInputs& inputs, std::string_view id) {
  const TruthTable* table = inputs.table(id);
  if (table != nullptr) return table;
  return Error{ErrorCode::not_found,
               fmt::format("it needs the table {}, expected it in the folder, or in --inputs", id)};
}

/// What a study says, by the results that its points belong to. The simulators are deterministic: a
/// figure has no range.
struct Scored {
  TruthScore score;
  std::string_view unit{};
  /// Of points in results of their own: "<table>.<suffix>".
  std::string (*suffix_of)(const TruthRow& row, const TruthPoint& point) = nullptr;
  std::string (*group_of)(const TruthRow& row, const TruthPoint& point) = nullptr;
  bool are_shares = false;
};

std::vector<TableResult> results_of(const TruthTable& table, const Scored& scored) {
  std::map<std::string, TableResult> results;
  const auto at = [&](const std::string& name) -> TableResult& {
    TableResult& result = results[name];
    result.name = name;
    result.unit = scored.unit;
    result.is_share = scored.are_shares;
    return result;
  };
  for (const TruthPoint& point : scored.score.points) {
    const TruthRow row = table.row(point.row);
    const std::string name = scored.suffix_of == nullptr
                                 ? table.id
                                 : fmt::format("{}.{}", table.id, scored.suffix_of(row, point));
    at(name).points.push_back(
        {point.row, point.column, point.predicted, point.predicted, point.predicted, point.measured,
         scored.group_of == nullptr ? std::string() : scored.group_of(row, point)});
  }
  for (const TruthGap& gap : scored.score.skipped) {
    at(table.id).skipped.push_back({gap.row, fmt::format("{}: {}", gap.column, gap.reason)});
  }
  std::vector<TableResult> all;
  for (auto& [name, result] : results) all.push_back(std::move(result));
  return all;
}

Result<Scored> read_tiresias(const TruthTable& table, const TableInputs& /*inputs*/) {
  FORETRACE_TRY(auto score, scheduling::tiresias::score_tiresias(table));
  return Scored{
      .score = std::move(score),
      .unit = "s",
      .group_of = [](const TruthRow& /*row*/, const TruthPoint& point) { return point.column; }};
}

Result<Scored> read_pollux(const TruthTable& table, const TableInputs& inputs) {
  FORETRACE_TRY(const auto times, companion(inputs, "sched_pollux_iter_time"));
  FORETRACE_TRY(const auto work, companion(inputs, "sched_pollux_work"));
  FORETRACE_TRY(auto score, scheduling::pollux::score_pollux(table, *times, *work));
  return Scored{.score = std::move(score),
                .unit = "s",
                .group_of = [](const TruthRow& row, const TruthPoint& /*point*/) {
                  return "workload " + row.text("workload");
                }};
}

/// Rows of the authors' simulator, of another version of it, and of the real cluster.
Result<Scored> read_shockwave(const TruthTable& table, const TableInputs& inputs) {
  FORETRACE_TRY(const auto jobs, companion(inputs, "sched_shockwave_jct"));
  FORETRACE_TRY(const auto rates, companion(inputs, "sched_shockwave_throughput"));
  FORETRACE_TRY(const auto rules,
                scheduling::read_batch_rules(inputs.catalogue().directory() +
                                             "/schedules/shockwave_batch_rules.json"));
  FORETRACE_TRY(auto score, scheduling::shockwave::score_shockwave_results(
                                table, {.jobs = jobs, .rates = rates, .rules = &rules}));
  return Scored{.score = std::move(score),
                .suffix_of = [](const TruthRow& row, const TruthPoint& point) {
                  const bool is_real = row.text("kind") == "physical";
                  const std::string set = is_real ? "cluster" : row.text("set");
                  return (set.empty() ? "simulator" : set) + "." + point.column;
                }};
}

Result<Scored> read_gavel(const TruthTable& table, const TableInputs& inputs) {
  FORETRACE_TRY(const auto rates, companion(inputs, "gavel_job_throughput"));
  // One worker on a kind that the other table lacks; the study also runs without it.
  const auto one = companion(inputs, "gavel_p100_one_worker");
  std::vector<const TruthTable*> tables = {rates};
  if (one.ok()) tables.push_back(*one);
  FORETRACE_TRY(auto score, scheduling::gavel::score_gavel_curves(table, tables));
  return Scored{.score = std::move(score),
                .unit = "h",
                .group_of = [](const TruthRow& row, const TruthPoint& /*point*/) {
                  return row.text("trace") + ", " + row.text("metric");
                }};
}

Result<Scored> read_fgd(const TruthTable& table, const TableInputs& inputs) {
  FORETRACE_TRY(const auto nodes, companion(inputs, "sched_fgd_nodes"));
  FORETRACE_TRY(const auto pods, companion(inputs, "sched_fgd_pods"));
  FORETRACE_TRY(auto score, scheduling::fgd::score_fgd(table, *nodes, *pods));
  return Scored{.score = std::move(score),
                .unit = "% of accelerators",
                .group_of = [](const TruthRow& row,
                               const TruthPoint& /*point*/) { return row.text("policy"); },
                .are_shares = true};
}

constexpr std::array<std::string_view, 5> names = {
    "sched_tiresias_*", "sched_pollux_jobs*", "sched_shockwave_results*",
    "sched_gavel_policy_curves*", "sched_fgd_allocation*"};
/// In the order of their tables.
constexpr std::array studies = {read_tiresias, read_pollux, read_shockwave, read_gavel, read_fgd};
static_assert(studies.size() == names.size());

Result<std::vector<TableResult>> read(const TruthTable& table, TableInputs& inputs) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!table.id.starts_with(names[i].substr(0, names[i].size() - 1))) continue;
    FORETRACE_TRY(const auto scored, studies[i](table, inputs));
    return results_of(table, scored);
  }
  return Error{ErrorCode::not_found, "no study reads this table"};
}

constexpr std::array<std::string_view, 1> slow_names = {names[3]};

}  // namespace

extern constexpr TableReaderInfo info = {
    "schedulers", "policies of published cluster schedulers, replayed on their jobs", names, read,
    slow_names};

}  // namespace foretrace::table_readers::schedulers_parts
