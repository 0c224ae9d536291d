// The page of `inspect --memory`.
#include <algorithm>

#include <fmt/format.h>

#include "apps/report/report.h"
#include "apps/report/report_parts.h"
#include "apps/report/style.h"
#include "apps/report/text.h"

namespace foretrace::app {
namespace {

using driver::FitVerdict;
using driver::Inspection;
using driver::MemoryReport;
using driver::MemoryShare;

// Longer lists are cut; --json has them whole.
constexpr std::size_t longest_memory_list = 8;

std::string named(const std::string& name, std::string_view otherwise) {
  return name.empty() ? std::string(otherwise) : name;
}

void add_shares(Table& table, std::string_view title, const std::vector<MemoryShare>& shares,
                std::int64_t whole) {
  table.row({strong(title), "", "", ""});
  const std::size_t shown = std::min(shares.size(), longest_memory_list);
  MemoryShare rest;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const MemoryShare& share = shares[i];
    if (i < shown) {
      table.row({"  " + shorten(named(share.name, "(none)"), 60), bytes_text(share.bytes),
                 percent_text(share_of(share.bytes, whole)), count_text(share.tensors)});
    } else {
      rest.bytes += share.bytes;
      rest.tensors += share.tensors;
    }
  }
  if (shares.size() > shown) {
    table.row({fmt::format("  ... {} more", count_text(shares.size() - shown)),
               bytes_text(rest.bytes), percent_text(share_of(rest.bytes, whole)),
               count_text(rest.tensors)});
  }
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
    text += fmt::format("; {} of it given to weights and states by shapes (assumed)",
                        bytes_text(report.assumed_bytes));
  }
  return text;
}

std::string reserved_text(const MemoryReport& report) {
  const driver::ReservedRange& range = report.reserved;
  std::string text =
      fmt::format("between {} and {}; ", bytes_text(range.low_bytes), bytes_text(range.high_bytes));
  text += range.recorded_bytes < 0
              ? std::string("what was reserved in the recording is not known; ")
              : fmt::format("{} recorded, which depends on what ran before; ",
                            bytes_text(range.recorded_bytes));
  text += fmt::format("a fresh process needs {}", bytes_text(range.fresh_bytes));
  return text + fmt::format(", {} of it free in pieces of at most {} at the peak",
                            bytes_text(range.fragmentation.free_bytes),
                            bytes_text(range.fragmentation.largest_free_bytes));
}

std::string bounds_text(const MemoryReport& report) {
  return fmt::format("{} with fixed offsets and proven reuse; {} if nothing were reused",
                     bytes_text(report.planned_bytes), bytes_text(report.no_reuse_bytes));
}

std::string fits_table(const MemoryReport& report) {
  Table table({left, right, left});
  table.row({strong("fits on"), "room", ""});
  for (const driver::MemoryFit& fit : report.fits) {
    std::string text;
    switch (fit.verdict) {
      case FitVerdict::fits: text = "yes"; break;
      case FitVerdict::after_retries:
        text = fmt::format("only if the allocator gives back its cache {} times", fit.retries);
        break;
      case FitVerdict::no:
        text = "no: out of memory" +
               (fit.fails_at.empty() ? std::string() : fmt::format(" in {}", fit.fails_at));
        break;
    }
    table.row({"  " + fit.accelerator, bytes_text(fit.capacity_bytes), text});
  }
  return table.text(0);
}

std::string without_table(const MemoryReport& report) {
  Table table({left, right, right});
  table.row({strong("peak without"), "", "saved at most"});
  for (std::size_t c = 0; c < tensor_category_count; ++c) {
    const std::int64_t saved = report.curve.peak_bytes - report.peak_without[c];
    if (saved > 0) {
      table.row({fmt::format("  {}", to_string(static_cast<TensorCategory>(c))),
                 bytes_text(report.peak_without[c]), bytes_text(saved)});
    }
  }
  return table.text(0);
}

std::string model_text(const trace::ParameterEstimate& model) {
  std::string text = fmt::format("{} parameters by recorded {}: {} of weights",
                                 count_text(static_cast<std::uint64_t>(model.parameters)),
                                 model.is_exact ? "tensors" : "shapes",
                                 bytes_text(model.parameter_bytes + model.buffer_bytes));
  if (model.trains) {
    text += fmt::format(", {} of gradients", bytes_text(model.parameter_bytes));
    if (model.states > 0) {
      text += fmt::format(", {} of states ({})", bytes_text(model.states * model.parameter_bytes),
                          model.optimizer);
    }
  }
  if (model.tied_bytes > 0) {
    text += fmt::format("; {} may be counted twice", bytes_text(model.tied_bytes));
  }
  constexpr std::int64_t noteworthy = 100;  // a hundredth of the weights
  if (model.unplaced_bytes > (model.parameter_bytes + model.buffer_bytes) / noteworthy) {
    text += fmt::format("; {} more was there and may be of the model",
                        bytes_text(model.unplaced_bytes));
  }
  return text + (model.is_exact ? "" : " (assumed)");
}

std::string device_page(const MemoryReport& report, std::uint64_t nodes) {
  std::string page = row("peak", peak_text(report, nodes)) + row("before", before_text(report)) +
                     row("reserved", reserved_text(report));
  if (report.planned_bytes >= 0) page += row("planned", bounds_text(report));
  Table table({left, right, right, right});
  table.row({strong("held at the peak"), strong("bytes"), strong("share"), strong("tensors")});
  add_shares(table, "by category", report.categories, report.curve.peak_bytes);
  if (report.layers.size() > 1) {
    add_shares(table, "by layer", report.layers, report.curve.peak_bytes);
  }
  add_shares(table, "by operator", report.operators, report.curve.peak_bytes);
  add_shares(table, "largest tensors", report.largest, report.curve.peak_bytes);
  return page + "\n" + table.text(0) + "\n" + without_table(report) + "\n" + fits_table(report);
}

}  // namespace

std::string memory_headline(const Inspection& found) {
  std::string text = file_name(found.path) + ": ";
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
    text += fmt::format("device {}: peak {} allocated, {} to {} reserved", report.curve.device,
                        bytes_text(report.curve.peak_bytes), bytes_text(report.reserved.low_bytes),
                        bytes_text(report.reserved.high_bytes));
  }
  return text;
}

std::string memory_page(const Inspection& found) {
  std::string page = strong(memory_headline(found)) + "\n\n";
  if (found.model.parameters > 0) {
    page += row("model", model_text(found.model));
  }
  if (!found.memory_note.empty()) {
    page += row("source", found.memory_note);
  }
  for (const MemoryReport& report : found.memory_reports) {
    page += device_page(report, found.memory_nodes);
  }
  return page;
}

}  // namespace foretrace::app
