// The largest batch that fits into memory, and what it takes per step.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/questions/memory/batch_scan.h"
#include "apps/report/pages/result.h"
#include "apps/report/sections/parts.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"
#include "sim/core/text.h"
#include "sim/core/whole.h"

namespace foretrace::report::sections {
namespace {

/// "scaled 83, measured 17 %": shares of at least 5 %, largest first.
std::string shares_text(const BatchPoint& point) {
  std::vector<std::pair<double, std::size_t>> shares;
  for (std::size_t i = 0; i < point.provenance.size(); ++i) {
    if (point.provenance[i] >= 0.05) shares.emplace_back(-point.provenance[i], i);
  }
  std::sort(shares.begin(), shares.end());
  std::string text;
  for (const auto& [share, provenance] : shares) {
    text += fmt::format("{}{} {:.0f}", text.empty() ? "" : ", ",
                        to_string(static_cast<Provenance>(provenance)), -share * 100);
  }
  return text + " %";
}

/// A formula, or why there is none; Skyline's lines through three batches.
std::string line_text(const BatchAnswer& answer, const BatchLine& line,
                      const std::string& formula) {
  const std::string through = fmt::format("{}", fmt::join(answer.sampled, ", "));
  return line.is_straight()
             ? fmt::format("{}, a line through {}; batches below are at most {} off", formula,
                           through, percent_text(std::abs(line.worst_error)))
             : fmt::format("step time is not linear in the batch: a line through {} is {} off",
                           through, percent_text(std::abs(line.worst_error)));
}

std::string step_line_text(const BatchAnswer& answer) {
  const BatchLine& line = answer.step_line;
  std::string text = line_text(
      answer, line,
      fmt::format("{} x batch + {}", four_digit_time(line.slope), four_digit_time(line.offset)));
  if (line.is_straight() && line.slope > 0) {
    text += fmt::format("; no more than {} samples/s at any batch",
                        rate_text(static_cast<double>(answer.passes) * 1e9 / line.slope, 0));
  }
  return text;
}

std::string live_line_text(const BatchAnswer& answer) {
  const BatchLine& line = answer.live_line;
  return line_text(answer, line,
                   fmt::format("{} x batch + {} live at the peak", bytes_text(to_whole(line.slope)),
                               bytes_text(to_whole(line.offset))));
}

std::string multiples_text(std::int64_t granule) {
  return granule == 1 ? "every batch" : fmt::format("every multiple of {}", granule);
}

/// What keeps larger batches out.
std::string above_text(const BatchAnswer& answer) {
  const BatchScan& scan = answer.scan;
  if (answer.is_limit_of_model) return "larger batches were not tried";
  if (scan.possible == 0) return "live tensors alone exceed it at every batch";
  std::string beyond = fmt::format("live tensors alone exceed it above {}", scan.possible);
  if (scan.possible <= answer.max_batch) return beyond;
  if (scan.possible == answer.max_batch + 1) {
    return fmt::format("batch {} was tried and does not fit, {}", scan.possible, beyond);
  }
  return fmt::format("{} from {} to {} was tried and does not fit, {}",
                     multiples_text(scan.granule_above), answer.max_batch + 1, scan.possible,
                     beyond);
}

constexpr std::size_t most_gaps = 8;

/// Whether smaller batches fit as well.
std::string below_text(const BatchAnswer& answer) {
  const BatchScan& scan = answer.scan;
  const std::string tried = multiples_text(scan.granule_below);
  if (scan.gaps.empty()) return fmt::format("below, {} was tried and fits", tried);
  std::string text;
  for (std::size_t i = 0; i < std::min(most_gaps, scan.gaps.size()); ++i) {
    const auto& [from, to] = scan.gaps[scan.gaps.size() - 1 - i];
    text += text.empty() ? "" : ", ";
    text += from == to ? fmt::format("{}", from) : fmt::format("{} to {}", from, to);
  }
  if (scan.gaps.size() > most_gaps) {
    text += fmt::format(" and {} more", plural(scan.gaps.size() - most_gaps, "gap"));
  }
  return fmt::format(
      "below, {} was tried; these do not fit, since reserved memory does not grow evenly: {}",
      tried, text);
}

std::string checked_text(const BatchAnswer& answer) {
  return answer.max_batch == 0 ? above_text(answer)
                               : above_text(answer) + "; " + below_text(answer);
}

std::string batch_headline(const BatchAnswer& answer) {
  const std::string size = target_text(answer.target);
  const auto at =
      std::find_if(answer.points.begin(), answer.points.end(),
                   [&](const BatchPoint& point) { return point.batch == answer.max_batch; });
  if (answer.max_batch == 0 || at == answer.points.end()) {
    return fmt::format("not even batch {} fits {}",
                       answer.points.empty() ? 1 : answer.points[0].batch, size);
  }
  return fmt::format("batch {}{} fits {} (recorded: {}): {}{} needed, step {}, {} samples/s{}",
                     answer.max_batch, answer.is_limit_of_model ? " and maybe more" : "", size,
                     answer.recorded_batch, at->need.is_least ? "at least " : "",
                     bytes_text(answer.target.needed_bytes(at->need)), time_text(at->step_ns),
                     rate_text(at->samples_per_second, 1),
                     answer.scan.gaps.empty() ? "" : "; some smaller ones do not fit");
}

Table batches_table(const BatchAnswer& answer) {
  Table table{.key = "batches",
              .columns = {{"batch", "batch"},
                          {"step_ns", "step"},
                          {"", "range"},
                          {"samples_per_second", "samples/s"},
                          {"needed_bytes", "needs"},
                          {"fits", ""},
                          {"", "based on"}}};
  for (const char* const key :
       {"low_ns", "high_ns", "provenance", "needed_low_bytes", "needed_high_bytes", "memory"}) {
    table.columns.push_back({key, "", Show::never});
  }
  const std::int64_t scale = answer.points.empty() ? 0 : answer.points.back().step_ns;
  for (const BatchPoint& point : answer.points) {
    const bool fits = answer.target.fits(point.need);
    table.add(
        {Value::plain(point.batch), Value::time(point.step_ns),
         Value::words(time_range_text(point.low_ns, point.high_ns, scale)),
         Value::plain(point.samples_per_second).as(rate_text(point.samples_per_second, 1)),
         Value::bytes(answer.target.needed_bytes(point.need)),
         Value::flag(fits).as(fits ? "fits" : "no"), Value::words(shares_text(point)),
         Value::time(point.low_ns), Value::time(point.high_ns),
         by_name<Provenance>(point.provenance, [](double share) { return Value::share(share); }),
         Value::bytes(answer.target.low_bytes(point.need)),
         Value::bytes(answer.target.high_bytes(point.need)), need_value(point.need)});
  }
  return table;
}

Value line_value(const BatchLine& line) {
  return Value::object({{"slope", Value::plain(line.slope)},
                        {"offset", Value::plain(line.offset)},
                        {"straight", Value::flag(line.is_straight())},
                        {"worst_error", Value::share(line.worst_error)}});
}

/// How the border was searched for, and smaller batches that do not fit.
Value scan_value(const BatchScan& scan) {
  Value::List gaps;
  for (const BatchGap& gap : scan.gaps) {
    gaps.push_back(Value::object({{"from", Value::plain(gap.from)}, {"to", Value::plain(gap.to)}}));
  }
  return Value::object({{"possible_batch", Value::plain(scan.possible)},
                        {"granule_above", Value::plain(scan.granule_above)},
                        {"granule_below", Value::plain(scan.granule_below)},
                        {"tried", Value::count(scan.trials)},
                        {"gaps", Value::list(std::move(gaps))}});
}

}  // namespace

Sections max_batch(const ResultAnswer& asked) {
  if (asked.max_batch == nullptr) {
    return {};
  }
  const BatchAnswer& answer = *asked.max_batch;
  Section section{.key = "max_batch",
                  .path = "max_batch",
                  .headline = batch_headline(answer),
                  .scale_ns = answer.points.empty() ? 0 : answer.points.back().step_ns};
  section.line("compared", comparison_text(answer.target), Show::details);
  section.line("checked", checked_text(answer));
  section.line("step", step_line_text(answer));
  section.line("memory", live_line_text(answer));
  section.datum("target", target_value(answer.target));
  section.datum("recorded_batch", Value::plain(answer.recorded_batch));
  section.datum("passes_per_step", Value::plain(answer.passes));
  section.datum("max_batch", Value::plain(answer.max_batch));
  section.datum("limit_of_model", Value::flag(answer.is_limit_of_model));
  section.datum("scan", scan_value(answer.scan));
  section.datum("at_most_batch",
                answer.at_most_batch ? Value::plain(*answer.at_most_batch) : Value::none());
  section.datum("sampled", Value::numbers({answer.sampled.begin(), answer.sampled.end()}));
  section.datum("step_line_ns", line_value(answer.step_line));
  section.datum("live_line_bytes", line_value(answer.live_line));
  section.tables.push_back(batches_table(answer));
  section.note(fmt::format(
      "a batch is what one device processes per pass{}; CPU time stays as recorded; foretrace "
      "explain batch_size lists the other assumptions",
      answer.passes == 1 ? std::string() : fmt::format(", {} passes per step", answer.passes)));
  return {std::move(section)};
}

}  // namespace foretrace::report::sections
