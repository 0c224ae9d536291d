// A run within a memory budget: whether it fits, at what price, and the nearest way out.
#include <algorithm>

#include <fmt/format.h>

#include "apps/report/pages/result.h"
#include "apps/report/sections/parts.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"

namespace foretrace::report::sections {
namespace {

std::string budget_size_text(const BudgetAnswer& answer) {
  const auto [low, high] = std::minmax_element(
      answer.devices.begin(), answer.devices.end(),
      [](const auto& a, const auto& b) { return a.budget_bytes < b.budget_bytes; });
  // A share is one of live blocks; a size is one of the whole device.
  const std::string_view of_what = high->overhead_bytes > 0 ? "" : " of live tensors";
  const Ends ends = bytes_ends(low->budget_bytes, high->budget_bytes);
  return low->budget_bytes == high->budget_bytes
             ? fmt::format("{}{}", ends.low, of_what)
             : fmt::format("{} to {}{}", ends.low, ends.high, of_what);
}

std::string budget_step_text(const BudgetAnswer& answer, std::int64_t step_ns) {
  const std::int64_t before = answer.step_before_ns;
  return fmt::format("{} {} -> {} ({})", answer.is_span ? "span" : "step", time_text(before),
                     time_text(step_ns, before), change_text(step_ns, before));
}

std::string asker_text(const BudgetStop& stop) {
  std::string text =
      stop.operator_name.empty() ? "code outside every operator" : stop.operator_name;
  if (!stop.layer.empty()) text += " in " + shorten(stop.layer, 32);
  return shorten(text, 56);
}

std::string stop_text(const BudgetStop& stop) {
  std::string text =
      fmt::format("{} needs {} more than is free, before {} (task {}", asker_text(stop),
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
                        budget_step_text(answer, tried.step_ns));
  }
  if (!text.empty()) return text;
  return fmt::format("nothing fits in that much; with --when-full {} it runs from {} on",
                     answer.enough_with, bytes_text(answer.enough_bytes));
}

std::string budget_device_text(const BudgetAnswer& answer, const BudgetDevice& device) {
  std::string text =
      fmt::format("needs {} without a budget, {} of it allocated before the recording",
                  bytes_text(device.free_peak_bytes), bytes_text(device.base_bytes));
  if (device.assumed_bytes > 0) {
    text += fmt::format(" ({} assumed from shapes)", bytes_text(device.assumed_bytes));
  }
  if (device.overhead_bytes > 0) {
    text += fmt::format(
        "; the driver's context and reserved memory beyond live blocks use {} of the budget",
        bytes_text(device.overhead_bytes));
  }
  if (answer.fits) {
    text += fmt::format("; peak {} of {}", bytes_text(device.peak_bytes),
                        bytes_text(device.budget_bytes));
  }
  return text;
}

/// Whether a run fits in its budget, at what price.
std::string budget_headline(const BudgetAnswer& answer) {
  if (!answer.is_needed && answer.fits) {
    return fmt::format("fits in {}: no allocation waits", budget_size_text(answer));
  }
  const std::string with = answer.choice.name == "fail" ? "" : " with " + answer.choice.name;
  if (!answer.fits) {
    return fmt::format("does not fit in {}{}: {} needs {} more", budget_size_text(answer), with,
                       asker_text(*answer.stop), bytes_text(answer.stop->pressure.missing_bytes));
  }
  return fmt::format("fits in {}{}: {}", budget_size_text(answer), with,
                     budget_step_text(answer, answer.step_after_ns));
}

void add_price(const BudgetAnswer& answer, Section& section) {
  const PolicyCounts& counts = answer.counts;
  section.line("evicted", fmt::format("{}, {}", plural(counts.evictions, "tensor"),
                                      bytes_text(counts.evicted_bytes)));
  section.line("recomputed", fmt::format("{}, {} of device time, as measured when they first ran",
                                         plural(counts.recomputed_kernels, "kernel"),
                                         time_text(counts.recomputed_ns)));
  if (counts.swaps > 0) {
    section.line(
        "copied",
        fmt::format("{} to the host, {} back; {} of copies (assumed: bytes over bandwidth)",
                    bytes_text(counts.out_bytes), bytes_text(counts.in_bytes),
                    time_text(counts.copy_ns)));
  }
  if (answer.memory_waits > 0) {
    section.line("waited",
                 fmt::format("{} of the host for memory, {}", plural(answer.memory_waits, "wait"),
                             time_text(answer.memory_waited_ns)));
  }
}

Section budget_rows(const BudgetAnswer& answer) {
  Section section{.key = "budget_rows", .headline = budget_headline(answer)};
  for (const BudgetDevice& device : answer.devices) {
    section.line(
        answer.devices.size() == 1 ? "memory" : fmt::format("r{} d{}", device.rank, device.device),
        budget_device_text(answer, device));
  }
  if (!answer.fits) {
    section.line("stops", stop_text(*answer.stop));
    section.line("remedy", remedy_text(answer));
    return section;
  }
  if (answer.is_needed) add_price(answer, section);
  section.line("span", fmt::format("{} -> {}", time_text(answer.span_before_ns),
                                   time_text(answer.span_after_ns, answer.span_before_ns)));
  return section;
}

Section policy_assumptions(const BudgetAnswer& answer) {
  Section section{.key = "policy_assumptions", .title = "assumes", .show = Show::details};
  if (answer.choice.policy == nullptr) return section;
  for (const std::string_view text : answer.choice.policy->assumptions) {
    section.notes.push_back({std::string(text), "  - "});
  }
  return section;
}

Value devices_value(const BudgetAnswer& answer) {
  Value::List list;
  for (const BudgetDevice& device : answer.devices) {
    list.push_back(Value::object(
        {{"rank", Value::plain(device.rank)},
         {"device", Value::plain(device.device)},
         {"budget_bytes", Value::bytes(device.budget_bytes)},
         {"before_window_bytes", Value::bytes(device.base_bytes)},
         {"assumed_bytes", Value::bytes(device.assumed_bytes)},
         {"overhead_bytes", Value::bytes(device.overhead_bytes)},
         {"needed_peak_bytes", Value::bytes(device.free_peak_bytes)},
         {"peak_bytes", answer.fits ? Value::bytes(device.peak_bytes) : Value::none()}}));
  }
  return Value::list(std::move(list));
}

Value stop_value(const std::optional<BudgetStop>& stop) {
  if (!stop) return Value::none();
  return Value::object({{"rank", Value::plain(stop->pressure.rank)},
                        {"device", Value::plain(stop->pressure.device)},
                        {"task", Value::plain(index(stop->pressure.task))},
                        {"call", Value::words(stop->task)},
                        {"operator", Value::known_words(stop->operator_name)},
                        {"layer", Value::known_words(stop->layer)},
                        {"phase", Value::words(to_string(stop->phase))},
                        {"missing_bytes", Value::bytes(stop->pressure.missing_bytes)},
                        {"live_bytes", Value::bytes(stop->pressure.live_bytes)},
                        {"recomputed_without_end", Value::flag(stop->gave_up)}});
}

Value remedies_value(const BudgetAnswer& answer) {
  Value::List list;
  for (const BudgetTry& tried : answer.remedies) {
    list.push_back(
        Value::object({{"when_full", Value::words(tried.name)},
                       {"fits", Value::flag(tried.fits)},
                       {"step_ns", tried.fits ? Value::time(tried.step_ns) : Value::none()}}));
  }
  return Value::list(std::move(list));
}

Section budget_document(const std::string& run, const BudgetAnswer& answer) {
  Section section{
      .key = run + "_memory_budget", .path = run + "/memory_budget", .show = Show::never};
  const PolicyCounts& counts = answer.counts;
  const auto if_fits = [&](std::int64_t ns) {
    return answer.fits ? Value::time(ns) : Value::none();
  };
  section.datum("fits", Value::flag(answer.fits));
  section.datum("budget_is_felt", Value::flag(answer.is_needed));
  section.datum("when_full",
                Value::object({{"name", Value::words(answer.choice.name)},
                               {"parameters", texts_by_name(answer.choice.parameters)}}));
  section.datum("devices", devices_value(answer));
  section.datum("step_before_ns", Value::time(answer.step_before_ns));
  section.datum("step_after_ns", if_fits(answer.step_after_ns));
  section.datum("span_before_ns", Value::time(answer.span_before_ns));
  section.datum("span_after_ns", if_fits(answer.span_after_ns));
  section.datum("evictions", Value::count(counts.evictions));
  section.datum("evicted_bytes", Value::bytes(counts.evicted_bytes));
  section.datum("recomputed_kernels", Value::count(counts.recomputed_kernels));
  section.datum("recomputed_ns", Value::time(counts.recomputed_ns));
  section.datum("swaps", Value::count(counts.swaps));
  section.datum("swapped_out_bytes", Value::bytes(counts.out_bytes));
  section.datum("swapped_in_bytes", Value::bytes(counts.in_bytes));
  section.datum("copy_ns", Value::time(counts.copy_ns));
  section.datum("memory_waits", Value::count(answer.memory_waits));
  section.datum("memory_waited_ns", Value::time(answer.memory_waited_ns));
  section.datum("stop", stop_value(answer.stop));
  section.datum("remedies", remedies_value(answer));
  section.datum("enough_bytes",
                answer.enough_bytes > 0 ? Value::bytes(answer.enough_bytes) : Value::none());
  section.datum("enough_with", Value::known_words(answer.enough_with));
  return section;
}

}  // namespace

Sections budget(const ResultAnswer& answer) {
  Sections sections;
  if (answer.baseline_budget != nullptr) {
    sections.push_back(budget_document("baseline", *answer.baseline_budget));
  }
  if (answer.predicted_budget != nullptr) {
    sections.push_back(budget_document("predicted", *answer.predicted_budget));
  }
  return sections;
}

Sections budget_page(const ResultAnswer& answer) {
  const BudgetAnswer* const asked =
      answer.predicted_budget != nullptr ? answer.predicted_budget : answer.baseline_budget;
  if (asked == nullptr) {
    return {};
  }
  Section rows = budget_rows(*asked);
  if (asked == answer.predicted_budget) {
    rows.title = "within the memory budget";
    rows.facts.insert(rows.facts.begin(),
                      {{}, "now", Value::words(budget_headline(*answer.baseline_budget))});
  }
  return {std::move(rows), policy_assumptions(*asked)};
}

}  // namespace foretrace::report::sections
