// The page of `whatif --max-batch`.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/report/report.h"
#include "apps/report/report_answers.h"
#include "apps/report/report_parts.h"
#include "apps/report/style.h"
#include "apps/report/text.h"

namespace foretrace::app {
namespace {

using driver::BatchAnswer;
using driver::BatchLine;
using driver::BatchPoint;

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
             : fmt::format("no line: the one through {} is {} off", through,
                           percent_text(std::abs(line.worst_error)));
}

std::string step_line_text(const BatchAnswer& answer) {
  const BatchLine& line = answer.step_line;
  std::string text = line_text(
      answer, line,
      fmt::format("{:.4g} ms x batch + {:.4g} ms", line.slope * 1e-6, line.offset * 1e-6));
  if (line.is_straight() && line.slope > 0) {
    text += fmt::format("; no more than {:.0f} samples/s at any batch",
                        static_cast<double>(answer.passes) * 1e9 / line.slope);
  }
  return text;
}

std::string live_line_text(const BatchAnswer& answer) {
  const BatchLine& line = answer.live_line;
  return line_text(
      answer, line,
      fmt::format("{} x batch + {} live at the peak", bytes_text(std::llround(line.slope)),
                  bytes_text(std::llround(line.offset))));
}

std::string multiples_text(std::int64_t granule) {
  return granule == 1 ? "every batch" : fmt::format("every multiple of {}", granule);
}

/// What keeps larger batches out.
std::string above_text(const BatchAnswer& answer) {
  const driver::BatchScan& scan = answer.scan;
  if (answer.is_limit_of_model) return "larger batches are not asked for";
  if (scan.possible == 0) return "live blocks alone are too much at every batch";
  std::string beyond = fmt::format("live blocks alone are too much above {}", scan.possible);
  if (scan.possible <= answer.max_batch) return beyond;
  return fmt::format("{} from {} to {} was tried and does not fit, {}",
                     multiples_text(scan.granule_above), answer.max_batch + 1, scan.possible,
                     beyond);
}

constexpr std::size_t most_gaps = 8;

/// Whether smaller batches fit as well.
std::string below_text(const BatchAnswer& answer) {
  const driver::BatchScan& scan = answer.scan;
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
      "below, {} was tried; these do not fit, since what is reserved does not grow "
      "evenly: {}",
      tried, text);
}

std::string checked_text(const BatchAnswer& answer) {
  return answer.max_batch == 0 ? above_text(answer)
                               : above_text(answer) + "; " + below_text(answer);
}

std::string batches_table(const BatchAnswer& answer) {
  const std::int64_t scale = answer.points.empty() ? 0 : answer.points.back().step_ns;
  Table table({right, right, left, right, right, left, left});
  table.row({strong("batch"), strong("step"), strong("range"), strong("samples/s"), strong("needs"),
             "", strong("rests on")});
  for (const BatchPoint& point : answer.points) {
    table.row({fmt::format("{}", point.batch), time_text(point.step_ns, scale),
               time_range_text(point.low_ns, point.high_ns, scale),
               fmt::format("{:.1f}", point.samples_per_second),
               bytes_text(answer.target.needed_bytes(point.need)), point.fits ? "fits" : "no",
               shares_text(point)});
  }
  return table.text(2);
}

}  // namespace

std::string batch_headline(const BatchAnswer& answer) {
  const std::string size = target_text(answer.target);
  const auto at =
      std::find_if(answer.points.begin(), answer.points.end(),
                   [&](const BatchPoint& point) { return point.batch == answer.max_batch; });
  if (answer.max_batch == 0 || at == answer.points.end()) {
    return fmt::format("not even batch {} fits {}",
                       answer.points.empty() ? 1 : answer.points[0].batch, size);
  }
  return fmt::format("batch {}{} fits {} (recorded: {}): {} needed, step {}, {:.1f} samples/s{}",
                     answer.max_batch, answer.is_limit_of_model ? " and maybe more" : "", size,
                     answer.recorded_batch, bytes_text(answer.target.needed_bytes(at->need)),
                     time_text(at->step_ns), at->samples_per_second,
                     answer.scan.gaps.empty() ? "" : "; some smaller ones do not fit");
}

std::string batch_page(const driver::Recording& recording, const driver::Replay& replay,
                       const BatchAnswer& answer) {
  std::string page = paragraph("", batch_headline(answer)) + "\n" +
                     row("trace", trace_text(recording)) + row("replay", replay_headline(replay)) +
                     tensors_row(recording.built) + flag_rows(recording.built.honesty) +
                     row("compared", comparison_text(answer.target)) +
                     row("checked", checked_text(answer)) + row("step", step_line_text(answer)) +
                     row("memory", live_line_text(answer));
  page += "\n" + batches_table(answer);
  page += paragraph(
      "  ", fmt::format("a batch is what one device takes per pass{}; the host takes "
                        "what it took at the recorded batch; foretrace explain "
                        "batch_size tells what else is assumed",
                        answer.passes == 1 ? std::string()
                                           : fmt::format(", {} passes per step", answer.passes)));
  return page;
}

}  // namespace foretrace::app
