// How right replays and predictions are on a folder of recordings.
#include "apps/report/pages/validation.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/questions/validate/kernel_errors.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"
#include "apps/session/range.h"

namespace foretrace::report::sections {
namespace {

/// "-0.012 %": errors of replays are small.
Value small_error(double error) {
  return Value::change(error).as(fmt::format("{:+.3f} %", 100 * error));
}

/// Flags, and why more than 1 % of the span stays unexplained where it does.
std::string remarks_of(const ReplayRow& row) {
  std::string text;
  for (const std::string& flag : row.honesty.flags) {
    text += (text.empty() ? "" : ", ") + flag;
  }
  if (row.unexplained_share() > 0.01) {
    const bool launches = row.honesty.unexplained_launch_ns > row.honesty.unexplained_device_ns;
    const bool recorded = row.honesty.edges_by_origin[0] > 0;
    text += (text.empty() ? "" : "; ") +
            std::string(launches   ? "launch calls blocked on the CPU (preempted, locked)"
                        : recorded ? "GPU work later than everything it waits for"
                                   : "cross-stream waits without cuda_sync events");
  }
  return text;
}

/// Median and largest size of a column over the rows that are not flagged.
template <typename Column>
std::string spread_line(const ReplayTable& table, const char* what, Column column) {
  std::vector<double> sizes;
  for (const ReplayRow& row : table.rows) {
    if (!row.flagged()) sizes.push_back(std::abs(column(row)));
  }
  std::sort(sizes.begin(), sizes.end());
  const double median = sizes.empty() ? 0 : sizes[sizes.size() / 2];
  const double worst = sizes.empty() ? 0 : sizes.back();
  return fmt::format("\n  {}: median {:.3f} %, worst {:.3f} %", what, 100 * median, 100 * worst);
}

std::string replays_headline(const ReplayTable& table) {
  const auto flagged = std::count_if(table.rows.begin(), table.rows.end(),
                                     [](const ReplayRow& row) { return row.flagged(); });
  return fmt::format("{} recordings replayed, {} of them flagged and excluded from these figures",
                     table.rows.size(), flagged) +
         spread_line(table, "span error", [](const auto& row) { return row.span_error; }) +
         spread_line(table, "worst step error",
                     [](const auto& row) { return row.worst_step_error; }) +
         spread_line(table, "span error, constant latencies and gaps",
                     [](const auto& row) { return row.constant_span_error; }) +
         spread_line(table, "worst step error, constant latencies and gaps",
                     [](const auto& row) { return row.constant_worst_step_error; });
}

std::string coverage_text(const std::vector<PairRow>& pairs) {
  const Coverage found = coverage_of(pairs);
  const std::size_t failed = pairs.size() - found.predicted;
  const std::string missing =
      failed == 0 ? std::string()
                  : fmt::format("; {} could not be predicted", plural(failed, "pair"));
  return fmt::format(
      "{} of {} measured values lie in the predicted range; mean half-width {:.1f} %{}",
      found.covered, found.predicted, 100 * found.mean_half_width, missing);
}

Table replays_table(const ReplayTable& replays) {
  Table table{.key = "replays",
              .title = "trace",
              .columns = {{"trace"},
                          {"events", "events", Show::details},
                          {"tasks", "tasks", Show::details},
                          {"", "step measured", Show::details},
                          {"", "simulated", Show::details},
                          {"", "step error", Show::details},
                          {"span_ns", "span"},
                          {"span_error", "error"},
                          {"worst_step_error", "", Show::never},
                          {"constant_span_error", "constant"},
                          {"constant_worst_step_error", "constant, worst step", Show::details},
                          {"device_x0_ns", "kernels x0", Show::details},
                          {"host_only_ns", "host only", Show::details},
                          {"device_half_ns", "kernels x0.5", Show::details},
                          {"device_double_ns", "kernels x2", Show::details},
                          {"host_x0_ns", "host x0", Show::details},
                          {"device_busy_ns", "device busy", Show::details},
                          {"unexplained_device_ns", "unexplained device", Show::details},
                          {"unexplained_launch_ns", "launches", Show::details},
                          {"", "share", Show::details},
                          {"flags", "", Show::never},
                          {.title = "flags, reasons", .is_prose = true}}};
  for (const ReplayRow& row : replays.rows) {
    table.add({Value::words(row.trace),
               Value::count(row.events),
               Value::count(row.tasks),
               Value::known_time(row.measured_step_ns),
               Value::known_time(row.simulated_step_ns),
               small_error(row.step_error),
               Value::time(row.measured_span_ns),
               small_error(row.span_error),
               Value::change(row.worst_step_error),
               small_error(row.constant_span_error),
               small_error(row.constant_worst_step_error),
               Value::time(row.reactions.device_x0_ns),
               Value::time(row.honesty.host_only_ns),
               Value::time(row.reactions.device_half_ns),
               Value::time(row.reactions.device_double_ns),
               Value::time(row.reactions.host_x0_ns),
               Value::time(row.honesty.device_busy_ns),
               Value::time(row.honesty.unexplained_device_ns),
               Value::time(row.honesty.unexplained_launch_ns),
               Value::share(row.unexplained_share()),
               Value::texts(row.honesty.flags),
               Value::words(remarks_of(row))});
  }
  return table;
}

Table left_out_table(const ReplayTable& replays) {
  Table table{.key = "left_out",
              .title = "left out",
              .columns = {{"trace"}, {.key = "reason", .title = "why", .is_prose = true}},
              .show = Show::details};
  for (const LeftOut& file : replays.left_out) {
    table.add({Value::words(file.trace), Value::words(file.reason)});
  }
  return table;
}

Value kernels_value(const PairRow& pair) {
  Value::List list;
  for (const KernelErrorRow& row : pair.kernels.rows) {
    list.push_back(Value::object({{"class", Value::words(row.kernel_class)},
                                  {"number", Value::count(row.kernels)},
                                  {"base_ns", Value::time(row.before_ns)},
                                  {"predicted_ns", Value::time(row.predicted_ns)},
                                  {"measured_ns", Value::time(row.measured_ns)},
                                  {"mean_error", Value::share(row.predicted.mean)},
                                  {"median_error", Value::share(row.predicted.median)},
                                  {"p90_error", Value::share(row.predicted.p90)}}));
  }
  return Value::list(std::move(list));
}

/// As documents have it: a pair that could not be predicted has its failure alone.
Value pair_value(const PairRow& row) {
  Value::Object members = {{"id", Value::words(row.id)}, {"applied", Value::words(row.applied)}};
  if (!row.failure.empty()) {
    members.push_back({"failure", Value::words(row.failure)});
    return Value::object(std::move(members));
  }
  for (Member& member : Value::Object{{"base_ns", Value::time(row.base_ns)},
                                      {"predicted_ns", Value::time(row.predicted_ns)},
                                      {"low_ns", Value::time(row.low_ns)},
                                      {"high_ns", Value::time(row.high_ns)},
                                      {"measured_ns", Value::time(row.measured_ns)},
                                      {"error", Value::change(row.error())},
                                      {"half_width", Value::share(row.half_width())},
                                      {"covered", Value::flag(row.covered())}}) {
    members.push_back(std::move(member));
  }
  if (row.measured_peak_bytes > 0) {
    members.push_back({"predicted_peak_bytes", Value::bytes(row.predicted_peak_bytes)});
    members.push_back({"measured_peak_bytes", Value::bytes(row.measured_peak_bytes)});
  }
  if (!row.kernels.rows.empty()) members.push_back({"kernels", kernels_value(row)});
  return Value::object(std::move(members));
}

/// What the recorded tensors of a changed run take at their peak, beside what was measured.
Table peaks_table(const std::vector<PairRow>& pairs) {
  Table table{.name = "peaks",
              .title = "peak memory",
              .columns = {{"id"},
                          {"predicted_peak_bytes", "predicted"},
                          {"measured_peak_bytes", "measured"},
                          {"error", "error"}}};
  for (const PairRow& row : pairs) {
    if (!row.failure.empty() || row.measured_peak_bytes <= 0 || row.predicted_peak_bytes <= 0) {
      continue;
    }
    const double error = static_cast<double>(row.predicted_peak_bytes) /
                             static_cast<double>(row.measured_peak_bytes) -
                         1;
    table.add({Value::words(row.id), Value::bytes(row.predicted_peak_bytes),
               Value::bytes(row.measured_peak_bytes),
               Value::change(error).as(fmt::format("{:+.1f} %", 100 * error))});
  }
  return table;
}

Table pairs_table(const std::vector<PairRow>& pairs) {
  Table table{.name = "pairs",
              .title = "pair",
              .columns = {{"id"},
                          {"changed", "what changed", Show::details},
                          {"applied", "what-if", Show::details},
                          {"base_ns", "before"},
                          {"predicted_ns", "predicted"},
                          {"low_ns", "low", Show::details},
                          {"high_ns", "high", Show::details},
                          {"measured_ns", "measured"},
                          {"error", "error"},
                          {"covered", "range"},
                          {"why", "why", Show::details},
                          {.key = "failure", .is_prose = true}}};
  for (const PairRow& row : pairs) {
    std::vector<Value> cells = {Value::words(row.id), Value::words(row.changed_what),
                                Value::words(row.applied)};
    if (row.failure.empty()) {
      cells.insert(cells.end(),
                   {Value::time(row.base_ns), Value::time(row.predicted_ns),
                    Value::time(row.low_ns), Value::time(row.high_ns), Value::time(row.measured_ns),
                    Value::change(row.error()).as(fmt::format("{:+.1f} %", 100 * row.error())),
                    Value::flag(row.covered()).as(row.covered() ? "in range" : "outside"),
                    Value::words(row.why), Value::words("")});
    } else {
      cells.insert(cells.end(), 8, Value{});
      cells.push_back(Value::words(row.failure));
    }
    table.add(std::move(cells));
  }
  return table;
}

Value rounded(double share) { return Value::share(share).as(fmt::format("{:.0f} %", 100 * share)); }

Table kernels_table(const std::vector<PairRow>& pairs) {
  Table table{.name = "kernels",
              .title = "kernels on the other accelerator",
              .columns = {{"pair"},
                          {"class", "kernels"},
                          {"number", "number"},
                          {"operators_and_shapes", "operators x shapes", Show::details},
                          {"base_ns", "before"},
                          {"predicted_ns", "predicted"},
                          {"measured_ns", "measured"},
                          {"total_error", "total"},
                          {"mean_error", "mean", Show::details},
                          {"median_error", "median"},
                          {"p90_error", "90 %"},
                          {"bandwidth_mean_error", "bandwidth only: mean", Show::details},
                          {"bandwidth_median_error", "median", Show::details}}};
  for (const PairRow& pair : pairs) {
    for (const KernelErrorRow& row : pair.kernels.rows) {
      if (row.measured_ns <= 0) continue;
      const std::string name =
          row.kernel_class == "all"
              ? fmt::format("all ({:.0f} % of the time)", 100 * pair.kernels.matched_share)
              : row.kernel_class;
      const double total = change_of(row.predicted_ns, row.measured_ns);
      table.add(
          {Value::words(pair.id), Value::words(row.kernel_class).as(name),
           Value::count(row.kernels), Value::count(row.predicted.rows), Value::time(row.before_ns),
           Value::time(row.predicted_ns), Value::time(row.measured_ns),
           Value::change(total).as(fmt::format("{:+.0f} %", 100 * total)),
           rounded(row.predicted.mean), rounded(row.predicted.median), rounded(row.predicted.p90),
           rounded(row.bandwidth.mean), rounded(row.bandwidth.median)});
    }
  }
  return table;
}

Section coverage_section(const std::vector<PairRow>& pairs) {
  const Coverage found = coverage_of(pairs);
  Section section{.key = "coverage", .path = "coverage", .show = Show::never};
  section.datum("predicted", Value::count(found.predicted));
  section.datum("covered", Value::count(found.covered));
  section.datum("mean_half_width", Value::share(found.mean_half_width));
  return section;
}

/// What ranges are made of, beyond what recipes declare.
Section constants_section() {
  Table table{
      .key = "range_constants",
      .title = "constant of ranges",
      .columns = {
          {"name"}, {"value", "value"}, {.key = "origin", .title = "origin", .is_prose = true}}};
  for (const RangeConstant& constant : range_constants()) {
    table.add(
        {Value::words(constant.name), Value::plain(constant.value), Value::words(constant.origin)});
  }
  return {.key = "range_constants", .tables = {std::move(table)}, .show = Show::details};
}

}  // namespace

Sections validated_replays(const ValidationAnswer& answer) {
  Section section{.key = "replays"};
  section.headline = replays_headline(answer.replays);
  section.tables = {replays_table(answer.replays)};
  Section left_out{.key = "left_out", .show = Show::never};
  left_out.tables = {left_out_table(answer.replays)};
  return {std::move(section), std::move(left_out)};
}

Sections validated_pairs(const ValidationAnswer& answer) {
  Value::List list;
  for (const PairRow& row : answer.pairs) list.push_back(pair_value(row));
  Section section{.key = "pairs", .headline = coverage_text(answer.pairs)};
  section.datum("pairs", Value::list(std::move(list)));
  section.tables = {pairs_table(answer.pairs)};
  if (Table peaks = peaks_table(answer.pairs); !peaks.rows.empty()) {
    section.tables.push_back(std::move(peaks));
  }
  Section kernels{.key = "kernels"};
  kernels.tables = {kernels_table(answer.pairs)};
  if (!kernels.tables[0].rows.empty()) kernels.note("matched by operator and shapes");
  return {std::move(section), std::move(kernels), coverage_section(answer.pairs),
          constants_section()};
}

}  // namespace foretrace::report::sections
