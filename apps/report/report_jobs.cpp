#include "apps/report/report_jobs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "apps/report/text.h"

namespace foretrace::app {
namespace {

double ms(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

double waiting_share(const driver::JobRow& row) {
  const std::int64_t both = row.waiting_ns + row.transfer_ns;
  return both > 0 ? static_cast<double>(row.waiting_ns) / static_cast<double>(both) : 0;
}

}  // namespace

std::string jobs_markdown(const std::vector<driver::JobRow>& jobs) {
  std::string text =
      "| job | ranks | steps | tasks | matched on all ranks (not), by | step error, mean and worst "
      "| "
      "constant latencies | transfer + waiting, rank-ms (waiting) | largest collective, bus "
      "bandwidth | largest clock offset us | unexplained device ms | flags |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const driver::JobRow& row : jobs) {
    if (!row.failure.empty()) {
      text += fmt::format("| {}: {} | | | | {} | | | | | | | |\n", row.id, row.what, row.failure);
      continue;
    }
    const std::string bandwidth =
        row.bus_bandwidth < 0
            ? "sizes not recorded"
            : fmt::format("{}: {:.1f} GB/s", row.largest, row.bus_bandwidth / 1e9);
    text += fmt::format(
        "| {}: {} | {} | {} | {} | {} ({}), {} | {:.3f} %, {:.3f} % | {:.3f} %, {:.3f} % | {:.1f} "
        "+ "
        "{:.1f} ({:.0f} %) | {} | {:.1f} | {:.1f} | {} |\n",
        row.id, row.what, row.ranks, row.steps, row.tasks, row.matched, row.incomplete, row.method,
        100 * row.errors.mean, 100 * row.errors.worst, 100 * row.constant.mean,
        100 * row.constant.worst, ms(row.transfer_ns), ms(row.waiting_ns), 100 * waiting_share(row),
        bandwidth, row.largest_offset_ns / 1e3, ms(row.unexplained_device_ns),
        fmt::join(row.flags, ", "));
  }
  return text;
}

std::string jobs_page(const std::vector<driver::JobRow>& jobs) {
  using Align = Table::Align;
  Table table({Align::left, Align::right, Align::right, Align::right, Align::right, Align::left});
  table.row({"job", "ranks", "matched", "worst step", "constant", "flags"});
  for (const driver::JobRow& row : jobs) {
    table.row(row.failure.empty()
                  ? std::vector<std::string>{row.id, fmt::format("{}", row.ranks),
                                             fmt::format("{}", row.matched),
                                             fmt::format("{:.3f} %", 100 * row.errors.worst),
                                             fmt::format("{:.3f} %", 100 * row.constant.worst),
                                             fmt::format("{}", fmt::join(row.flags, ", "))}
                  : std::vector<std::string>{row.id, "", "", "", "", row.failure});
  }
  return table.text(2);
}

nlohmann::ordered_json jobs_json(const std::vector<driver::JobRow>& jobs) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const driver::JobRow& row : jobs) {
    if (!row.failure.empty()) {
      list.push_back({{"id", row.id}, {"failure", row.failure}});
      continue;
    }
    list.push_back({{"id", row.id},
                    {"ranks", row.ranks},
                    {"steps", row.steps},
                    {"tasks", row.tasks},
                    {"matched", row.matched},
                    {"incomplete", row.incomplete},
                    {"matched_by", row.method},
                    {"mean_step_error", row.errors.mean},
                    {"worst_step_error", row.errors.worst},
                    {"constant_mean_step_error", row.constant.mean},
                    {"constant_worst_step_error", row.constant.worst},
                    {"transfer_ns", row.transfer_ns},
                    {"waiting_ns", row.waiting_ns},
                    {"unexplained_device_ns", row.unexplained_device_ns},
                    {"span_ns", row.span_ns},
                    {"flags", row.flags}});
  }
  return list;
}

}  // namespace foretrace::app
