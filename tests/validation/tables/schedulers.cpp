// Tables of cluster schedulers: the policies of published simulators, replayed on their own jobs.
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/scheduling/sources/batch_rules.h"
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

/// Another table that a study needs.
Result<const TruthTable*> companion(const TableInputs& inputs, std::string_view id) {
  const TruthTable* table = inputs.table(id);
  if (table != nullptr) return table;
  return Error{ErrorCode::not_found,
               fmt::format("it needs the table {}, expected it in the folder, or in --inputs", id)};
}

/// Points by the result that they belong to. The simulators are deterministic: a figure has no
/// range.
class Results {
 public:
  explicit Results(std::string unit) : unit_(std::move(unit)) {}

  void add(const std::string& name, const TruthPoint& point, std::string group) {
    at(name).points.push_back({point.row, point.column, point.predicted, point.predicted,
                               point.predicted, point.measured, std::move(group)});
  }
  void skip(const std::string& name, const TruthGap& gap) {
    at(name).skipped.push_back({gap.row, fmt::format("{}: {}", gap.column, gap.reason)});
  }
  [[nodiscard]] std::vector<TableResult> take(bool are_shares = false) {
    std::vector<TableResult> all;
    for (auto& [name, result] : results_) {
      result.is_share = are_shares;
      all.push_back(std::move(result));
    }
    return all;
  }

 private:
  TableResult& at(const std::string& name) {
    TableResult& result = results_[name];
    result.name = name;
    result.unit = unit_;
    return result;
  }
  std::string unit_;
  std::map<std::string, TableResult> results_;
};

using Read = Result<std::vector<TableResult>>;

Read read_tiresias(const TruthTable& table, const TableInputs& /*inputs*/) {
  FORETRACE_TRY(const auto score, scheduling::tiresias::score_tiresias(table));
  Results results("s");
  for (const TruthPoint& point : score.points) results.add(table.id, point, point.column);
  for (const TruthGap& gap : score.skipped) results.skip(table.id, gap);
  return results.take();
}

Read read_pollux(const TruthTable& table, const TableInputs& inputs) {
  FORETRACE_TRY(const auto times, companion(inputs, "sched_pollux_iter_time"));
  FORETRACE_TRY(const auto work, companion(inputs, "sched_pollux_work"));
  FORETRACE_TRY(const auto score, scheduling::pollux::score_pollux(table, *times, *work));
  Results results("s");
  for (const TruthPoint& point : score.points) {
    results.add(table.id, point, "workload " + table.row(point.row).text("workload"));
  }
  for (const TruthGap& gap : score.skipped) results.skip(table.id, gap);
  return results.take();
}

/// Rows of the authors' simulator, of another version of it, and of the real cluster.
Read read_shockwave(const TruthTable& table, const TableInputs& inputs) {
  FORETRACE_TRY(const auto jobs, companion(inputs, "sched_shockwave_jct"));
  FORETRACE_TRY(const auto rates, companion(inputs, "sched_shockwave_throughput"));
  FORETRACE_TRY(const auto rules,
                scheduling::read_batch_rules(inputs.catalogue().directory() +
                                             "/schedules/shockwave_batch_rules.json"));
  FORETRACE_TRY(const auto score, scheduling::shockwave::score_shockwave_results(
                                      table, {.jobs = jobs, .rates = rates, .rules = &rules}));
  Results results("");
  for (const TruthPoint& point : score.points) {
    const bool is_real = table.row(point.row).text("kind") == "physical";
    const std::string set = is_real ? "cluster" : table.row(point.row).text("set");
    const std::string name =
        fmt::format("{}.{}.{}", table.id, set.empty() ? "simulator" : set, point.column);
    results.add(name, point, "");
  }
  for (const TruthGap& gap : score.skipped) results.skip(table.id, gap);
  return results.take();
}

Read read_gavel(const TruthTable& table, const TableInputs& inputs) {
  FORETRACE_TRY(const auto rates, companion(inputs, "gavel_job_throughput"));
  // One worker on a kind that the other table lacks; the study also runs without it.
  const auto one = companion(inputs, "gavel_p100_one_worker");
  std::vector<const TruthTable*> tables = {rates};
  if (one.ok()) tables.push_back(*one);
  FORETRACE_TRY(const auto score, scheduling::gavel::score_gavel_curves(table, tables));
  Results results("h");
  for (const TruthPoint& point : score.points) {
    results.add(table.id, point,
                fmt::format("{}, {}", table.row(point.row).text("trace"),
                            table.row(point.row).text("metric")));
  }
  for (const TruthGap& gap : score.skipped) results.skip(table.id, gap);
  return results.take();
}

Read read_fgd(const TruthTable& table, const TableInputs& inputs) {
  FORETRACE_TRY(const auto nodes, companion(inputs, "sched_fgd_nodes"));
  FORETRACE_TRY(const auto pods, companion(inputs, "sched_fgd_pods"));
  FORETRACE_TRY(const auto score, scheduling::fgd::score_fgd(table, *nodes, *pods));
  Results results("% of accelerators");
  for (const TruthPoint& point : score.points) {
    results.add(table.id, point, table.row(point.row).text("policy"));
  }
  for (const TruthGap& gap : score.skipped) results.skip(table.id, gap);
  return results.take(true);
}

struct Study {
  std::string_view table;
  Read (*read)(const TruthTable& table, const TableInputs& inputs);
};
constexpr std::array studies = {
    Study{"sched_tiresias_", read_tiresias}, Study{"sched_pollux_jobs", read_pollux},
    Study{"sched_shockwave_results", read_shockwave},
    Study{"sched_gavel_policy_curves", read_gavel}, Study{"sched_fgd_allocation", read_fgd}};

Read read(const TruthTable& table, TableInputs& inputs) {
  for (const Study& study : studies) {
    if (table.id.starts_with(study.table)) return study.read(table, inputs);
  }
  return Error{ErrorCode::not_found, "no study reads this table"};
}

constexpr std::array<std::string_view, 5> names = {
    "sched_tiresias_*", "sched_pollux_jobs*", "sched_shockwave_results*",
    "sched_gavel_policy_curves*", "sched_fgd_allocation*"};

constexpr std::array<std::string_view, 1> slow_names = {"sched_gavel_policy_curves*"};

constexpr TableReaderInfo info = {
    "schedulers", "policies of published cluster schedulers, replayed on their jobs", names, read,
    slow_names};

}  // namespace
}  // namespace foretrace::table_readers::schedulers_parts

namespace foretrace::table_readers {
extern const TableReaderInfo schedulers;
constinit const TableReaderInfo schedulers = schedulers_parts::info;
}  // namespace foretrace::table_readers
