// Device memory of a trace: the peak, who holds it, what is reserved, and where it would fit.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/report/pages/inspect.h"
#include "apps/report/sections/words.h"
#include "apps/report/text.h"
#include "apps/session/memory/memory_report.h"
#include "sim/core/text.h"

namespace foretrace::report::sections {
namespace {

std::string named(const std::string& name, std::string_view otherwise) {
  return name.empty() ? std::string(otherwise) : name;
}

std::string memory_headline(const Inspection& found) {
  std::string text = shorten(file_name_of(found.path), 60) + ": ";
  if (found.memory_reports.empty()) {
    return text + "no device memory recorded" +
           (found.no_memory.empty() ? std::string() : ": " + found.no_memory) +
           (found.model.parameters > 0
                ? fmt::format(", {} parameters by shapes",
                              count_text(static_cast<std::uint64_t>(found.model.parameters)))
                : std::string());
  }
  for (std::size_t i = 0; i < found.memory_reports.size(); ++i) {
    const MemoryReport& report = found.memory_reports[i];
    text += i > 0 ? "; " : "";
    text += fmt::format("device {}: peak {} allocated, ", report.curve.device,
                        bytes_text(report.curve.peak_bytes));
    // What was recorded is the answer, unless other settings of the allocator are asked about.
    const bool is_recorded = found.memory && report.reserved.recorded_bytes >= 0 &&
                             report.reserved.expected_bytes == report.reserved.recorded_bytes;
    const Ends ends = bytes_ends(report.reserved.low_bytes, report.reserved.high_bytes);
    text += is_recorded ? bytes_text(report.reserved.recorded_bytes)
                        : fmt::format("{} to {}", ends.low, ends.high);
    text += " reserved";
  }
  return text;
}

std::string model_text(const trace::ParameterEstimate& model) {
  std::string text = fmt::format("{} parameters by recorded {}: {} of weights",
                                 count_text(static_cast<std::uint64_t>(model.parameters)),
                                 model.is_exact ? "tensors" : "shapes",
                                 bytes_text(model.parameter_bytes + model.buffer_bytes));
  if (model.trains) {
    text += fmt::format(", {} of gradients", bytes_text(model.parameter_bytes));
    if (model.states > 0) {
      text += fmt::format(", {} of optimizer state ({})",
                          bytes_text(model.states * model.parameter_bytes), model.optimizer);
    }
  }
  if (model.tied_bytes > 0) {
    text += fmt::format("; {} may be counted twice", bytes_text(model.tied_bytes));
  }
  constexpr std::int64_t noteworthy = 100;  // a hundredth of the weights
  if (model.unplaced_bytes > (model.parameter_bytes + model.buffer_bytes) / noteworthy) {
    text += fmt::format("; {} more was allocated and may belong to the model",
                        bytes_text(model.unplaced_bytes));
  }
  return text + (model.is_exact ? "" : " (assumed)");
}

/// `nodes`: of a trace that has an order and no times, else 0.
std::string peak_text(const MemoryReport& report, std::uint64_t nodes) {
  const MemoryCurve& curve = report.curve;
  std::string text = fmt::format("{} allocated", bytes_text(curve.peak_bytes));
  if (curve.peak_point == no_memory_point) {
    return text + ", all of it before the trace began";
  }
  const std::string when =
      nodes == 0
          ? time_text(curve.peak_at_ns)
          : fmt::format("node {} of {}", count_text(index(curve.peak_task) + 1), count_text(nodes));
  text += fmt::format(" at {}, when {} asks for more", when,
                      named(report.peak_operator, "code outside every operator"));
  if (!report.peak_layer.empty()) text += " in " + shorten(report.peak_layer, 40);
  if (report.peak_phase != Phase::unknown)
    text += fmt::format(" ({})", to_string(report.peak_phase));
  return text;
}

std::string before_text(const MemoryReport& report) {
  std::string text = bytes_text(report.curve.base_bytes);
  if (report.older_freed_bytes > 0) {
    text += fmt::format(", {} of it freed later", bytes_text(report.older_freed_bytes));
  }
  if (report.assumed_bytes > 0) {
    text += fmt::format("; {} of it assigned to weights and optimizer state by shapes (assumed)",
                        bytes_text(report.assumed_bytes));
  }
  return text;
}

std::string reserved_text(const MemoryReport& report) {
  const ReservedRange& range = report.reserved;
  std::string text =
      fmt::format("between {} and {}; ", bytes_text(range.low_bytes), bytes_text(range.high_bytes));
  text += range.recorded_bytes < 0 ? std::string("reserved memory was not recorded; ")
                                   : fmt::format("{} recorded, which depends on earlier work; ",
                                                 bytes_text(range.recorded_bytes));
  text += fmt::format("a fresh process needs {}", bytes_text(range.fresh_bytes));
  return text + fmt::format(", {} of it free in pieces of at most {} at the peak",
                            bytes_text(range.fragmentation.free_bytes),
                            bytes_text(range.fragmentation.largest_free_bytes));
}

std::string fits_text(const MemoryReport& report) {
  std::vector<std::string_view> yes;
  std::size_t no = 0;
  for (const MemoryFit& fit : report.fits) {
    if (fit.verdict == FitVerdict::fits) {
      yes.push_back(fit.accelerator);
    } else {
      ++no;
    }
  }
  if (no == 0) return fmt::format("all {}", plural(yes.size(), "accelerator"));
  return yes.empty() ? fmt::format("none of {}", plural(no, "accelerator"))
                     : fmt::format("{}; not on {} others", fmt::join(yes, ", "), no);
}

Table held_table(std::string name, std::string title, const std::vector<MemoryShare>& shares,
                 std::int64_t whole) {
  Table table{.name = std::move(name),
              .title = std::move(title),
              .columns = {{"name"},
                          {"bytes", "bytes", Show::always, true},
                          {"share", "share", Show::always, true},
                          {"tensors", "tensors", Show::always, true}},
              .longest = 8};
  for (const MemoryShare& share : shares) {
    table.add({Value::words(named(share.name, "(none)")), Value::bytes(share.bytes),
               Value::share(share_of(share.bytes, whole)), Value::count(share.tensors)});
  }
  return table;
}

Section held_section(const MemoryReport& report) {
  const std::int64_t whole = report.curve.peak_bytes;
  Section section{.key = "held", .title = "allocated at the peak"};
  section.tables.push_back(
      held_table("categories", "allocated at the peak, by category", report.categories, whole));
  const auto add_details = [&](const char* name, const char* title,
                               const std::vector<MemoryShare>& shares) {
    section.tables.push_back(held_table(name, title, shares, whole));
    section.tables.back().show = Show::details;
  };
  if (report.layers.size() > 1) add_details("layers", "by layer", report.layers);
  add_details("operators", "by operator", report.operators);
  add_details("largest", "largest tensors", report.largest);
  return section;
}

Section without_section(const MemoryReport& report) {
  Table table{.title = "peak without",
              .columns = {{"category"}, {"peak_bytes", "peak"}, {"saved_bytes", "saved at most"}}};
  for (std::size_t c = 0; c < tensor_category_count; ++c) {
    const std::int64_t saved = report.curve.peak_bytes - report.peak_without[c];
    if (saved > 0) {
      table.add({Value::words(to_string(static_cast<TensorCategory>(c))),
                 Value::bytes(report.peak_without[c]), Value::bytes(saved)});
    }
  }
  return {.key = "peak_without", .tables = {std::move(table)}, .show = Show::details};
}

std::string verdict_text(const MemoryFit& fit) {
  switch (fit.verdict) {
    case FitVerdict::fits: return "yes";
    case FitVerdict::after_retries:
      return fmt::format("only if the allocator frees its cache {} times", fit.retries);
    case FitVerdict::no:
      return "no: out of memory" +
             (fit.fails_at.empty() ? std::string() : fmt::format(" in {}", fit.fails_at));
  }
  return {};
}

Section fits_section(const MemoryReport& report) {
  Table table{.title = "fits on",
              .columns = {{"accelerator"}, {"capacity_bytes", "room"}, {"verdict", ""}}};
  for (const MemoryFit& fit : report.fits) {
    table.add({Value::words(fit.accelerator), Value::bytes(fit.capacity_bytes),
               Value::words(verdict_text(fit))});
  }
  return {.key = "fits", .tables = {std::move(table)}, .show = Show::details};
}

void add_device(Sections& sections, const Inspection& found, const MemoryReport& report) {
  Section section{.key = "device_rows"};
  if (found.memory_reports.size() > 1)
    section.title = fmt::format("device {}", report.curve.device);
  section.line("peak", peak_text(report, found.memory_nodes));
  section.line("before", before_text(report));
  section.line("reserved", reserved_text(report));
  if (report.planned_bytes >= 0) {
    section.line("planned",
                 fmt::format("{} with fixed offsets and verified reuse; {} without reuse",
                             bytes_text(report.planned_bytes), bytes_text(report.no_reuse_bytes)),
                 Show::details);
  }
  section.line("fits on", fits_text(report));
  sections.push_back(std::move(section));
  sections.push_back(held_section(report));
  sections.push_back(without_section(report));
  sections.push_back(fits_section(report));
}

}  // namespace

Sections device_memory(const InspectAnswer& answer) {
  const Inspection& found = answer.found;
  if (!found.has_memory_reports) return {};
  Section rows{.key = "memory_rows", .headline = memory_headline(found)};
  if (found.model.parameters > 0) rows.line("model", model_text(found.model));
  rows.line("source", found.memory_note);
  Sections sections = {std::move(rows)};
  for (const MemoryReport& report : found.memory_reports) add_device(sections, found, report);
  return sections;
}

}  // namespace foretrace::report::sections
