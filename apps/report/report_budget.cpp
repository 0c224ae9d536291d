// The page of a run within a memory budget.
#include <algorithm>

#include <fmt/format.h>

#include "apps/report/report.h"
#include "apps/report/report_parts.h"
#include "apps/report/style.h"
#include "apps/report/text.h"

namespace foretrace::app {
namespace {

using driver::BudgetAnswer;
using driver::BudgetDevice;
using driver::BudgetStop;
using driver::BudgetTry;

std::string size_text(const BudgetAnswer& answer) {
  const auto [low, high] = std::minmax_element(
      answer.devices.begin(), answer.devices.end(),
      [](const auto& a, const auto& b) { return a.budget_bytes < b.budget_bytes; });
  return low->budget_bytes == high->budget_bytes
             ? bytes_text(low->budget_bytes)
             : fmt::format("{} to {}", bytes_text(low->budget_bytes),
                           bytes_text(high->budget_bytes));
}

std::string step_change_text(const BudgetAnswer& answer, std::int64_t step_ns) {
  const std::int64_t before = answer.step_before_ns;
  return fmt::format("{} {} -> {} ({})", answer.is_span ? "span" : "step", time_text(before),
                     time_text(step_ns, before),
                     signed_percent_text(share_of(step_ns - before, before)));
}

std::string asker_text(const BudgetStop& stop) {
  std::string text =
      stop.operator_name.empty() ? "code outside every operator" : stop.operator_name;
  if (!stop.layer.empty()) text += " in " + shorten(stop.layer, 32);
  return shorten(text, 56);
}

std::string stop_text(const BudgetStop& stop) {
  std::string text =
      fmt::format("{} asks for {} more than there are, before {} (task {}", asker_text(stop),
                  bytes_text(stop.pressure.missing_bytes), stop.task, index(stop.pressure.task));
  if (stop.phase != Phase::unknown) text += fmt::format(", {}", to_string(stop.phase));
  text += fmt::format("); {} of {} allocated on device {} of rank {}",
                      bytes_text(stop.pressure.live_bytes), bytes_text(stop.pressure.budget_bytes),
                      stop.pressure.device, stop.pressure.rank);
  return stop.gave_up ? text + "; it recomputed without end" : text;
}

std::string remedy_text(const BudgetAnswer& answer) {
  std::string text;
  for (const BudgetTry& tried : answer.remedies) {
    if (!tried.fits) continue;
    text += fmt::format("{}--when-full {}: {}", text.empty() ? "" : "; or ", tried.name,
                        step_change_text(answer, tried.step_ns));
  }
  if (!text.empty()) return text;
  return fmt::format("nothing fits in that much; --when-full {} gets through from {} on",
                     answer.enough_with, bytes_text(answer.enough_bytes));
}

std::string device_text(const BudgetAnswer& answer, const BudgetDevice& device) {
  std::string text = fmt::format("needs {} without a budget, {} of it from before the window",
                                 bytes_text(device.free_peak_bytes), bytes_text(device.base_bytes));
  if (device.assumed_bytes > 0) {
    text += fmt::format(" ({} assumed from shapes)", bytes_text(device.assumed_bytes));
  }
  if (answer.fits) {
    text += fmt::format("; peak {} of {}", bytes_text(device.peak_bytes),
                        bytes_text(device.budget_bytes));
  }
  return text;
}

std::string device_title(const BudgetAnswer& answer, const BudgetDevice& device) {
  return answer.devices.size() == 1 ? "memory" : fmt::format("r{} d{}", device.rank, device.device);
}

std::string span_row(const BudgetAnswer& answer) {
  return row("span", fmt::format("{} -> {}", time_text(answer.span_before_ns),
                                 time_text(answer.span_after_ns, answer.span_before_ns)));
}

}  // namespace

std::string budget_headline(const BudgetAnswer& answer) {
  if (!answer.is_needed && answer.fits) {
    return fmt::format("fits in {}: no request ever waits", size_text(answer));
  }
  const std::string with = answer.choice.name == "fail" ? "" : " with " + answer.choice.name;
  if (!answer.fits) {
    return fmt::format("does not fit in {}{}: {} needs {} more", size_text(answer), with,
                       asker_text(*answer.stop), bytes_text(answer.stop->pressure.missing_bytes));
  }
  return fmt::format("fits in {}{}: {}", size_text(answer), with,
                     step_change_text(answer, answer.step_after_ns));
}

std::string budget_rows(const BudgetAnswer& answer) {
  std::string page;
  for (const BudgetDevice& device : answer.devices) {
    page += row(device_title(answer, device), device_text(answer, device));
  }
  if (!answer.fits) {
    return page + row("stops", stop_text(*answer.stop)) + row("remedy", remedy_text(answer));
  }
  const PolicyCounts& counts = answer.counts;
  if (answer.is_needed) {
    page += row("evicted", fmt::format("{}, {}", plural(counts.evictions, "tensor"),
                                       bytes_text(counts.evicted_bytes)));
    page += row(
        "again",
        fmt::format("{} recomputed, {} of device time, as measured when they first ran",
                    plural(counts.recomputed_kernels, "kernel"), time_text(counts.recomputed_ns)));
    if (counts.swaps > 0) {
      page +=
          row("copied", fmt::format("{} to the host, {} back; {} of copies (assumed: bytes over "
                                    "bandwidth)",
                                    bytes_text(counts.out_bytes), bytes_text(counts.in_bytes),
                                    time_text(counts.copy_ns)));
    }
    if (answer.memory_waits == 0) {
      return page + span_row(answer);
    }
    page += row("waited",
                fmt::format("{} of the host for memory, {}", plural(answer.memory_waits, "wait"),
                            time_text(answer.memory_waited_ns)));
  }
  return page + span_row(answer);
}

std::string budget_page(const driver::Recording& recording, const driver::Replay& replay,
                        const BudgetAnswer& answer) {
  std::string page = strong(budget_headline(answer)) + "\n\n" +
                     row("trace", trace_text(recording)) + row("replay", replay_headline(replay)) +
                     tensors_row(recording.built) + budget_rows(answer);
  if (answer.choice.policy == nullptr) return page;
  page += "\n" + strong("assumes") + "\n";
  for (const std::string_view text : answer.choice.policy->assumptions) {
    page += paragraph("  - ", text);
  }
  return page;
}

}  // namespace foretrace::app
