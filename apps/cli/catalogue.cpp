// Everything with a name.
#include "apps/cli/catalogue.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/cli/command.h"
#include "apps/driver/scheduler/placements/placement.h"
#include "apps/driver/scheduler/policies/scheduler_info.h"
#include "apps/driver/what_if_spec.h"
#include "apps/report/grid.h"
#include "apps/report/text.h"
#include "models/catalogue/accelerator.h"
#include "models/policies/eviction/policy.h"
#include "models/whatifs/optimization.h"
#include "sim/core/params.h"
#include "sim/core/text.h"
#include "trace/formats/reader.h"
#include "trace/formats/writer.h"

namespace foretrace::app {
namespace {

using Json = nlohmann::ordered_json;
using scheduling::PlacementInfo;
using scheduling::SchedulerInfo;

constexpr std::string_view optimizations_kind = "optimizations";
constexpr std::string_view policies_kind = "policies";
constexpr std::string_view schedulers_kind = "schedulers";
constexpr std::string_view placements_kind = "placements";
constexpr std::string_view accelerators_kind = "accelerators";
constexpr std::string_view readers_kind = "readers";
constexpr std::string_view writers_kind = "writers";

// Headings of an explanation stand in a column of this width.
constexpr std::size_t heading_width = 12;

std::string heading(std::string_view text) { return fmt::format("{:<{}}", text, heading_width); }

std::string bullets(std::string_view title, std::span<const std::string_view> items,
                    std::size_t width) {
  std::string out;
  for (const std::string_view item : items) {
    out += report::paragraph(heading(out.empty() ? title : "") + "- ", item, width);
  }
  return out;
}

/// Lines below each other; drawings stay as they are, sentences are wrapped.
std::string block(std::string_view title, std::string_view text, std::size_t width) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::string head = heading(out.empty() ? title : "");
    if (head.size() + line.size() > width) {
      out += report::paragraph(head, line, width);
      continue;
    }
    std::string row = head + std::string(line);
    row.erase(row.find_last_not_of(' ') + 1);
    out += row + "\n";
  }
  return out;
}

Json parameters_json(std::span<const ParamInfo> params) {
  Json list = Json::array();
  for (const ParamInfo& param : params) {
    Json row = {{"name", param.name},
                {"unit", param.unit},
                {"default", param.default_text.empty() ? Json(nullptr) : Json(param.default_text)},
                {"doc", param.doc}};
    if (!param.choices.empty()) {
      row["choices"] = param.choices;
    }
    if (!param.optimistic.empty()) {
      row["optimistic"] = param.optimistic;
      row["pessimistic"] = param.pessimistic;
    }
    list.push_back(std::move(row));
  }
  return list;
}

/// Of an optimization or a policy.
template <typename Info>
Json recipe_json(const Info& info) {
  Json object = {{"name", info.name}, {"summary", info.summary}, {"paper", info.paper}};
  object["assumptions"] = info.assumptions;
  object["parameters"] = parameters_json(info.params);
  object["recipe"] = info.recipe;
  object["ignores"] = info.ignores;
  object["calibrate"] = info.calibrate;
  if constexpr (requires { info.conflicts; }) {
    object["conflicts"] = info.conflicts;
    object["memory_settings"] = info.memory_settings;
  }
  return object;
}

/// "host_contention=1 (declared range 1.0 to 1.2)".
std::string parameter_head(const ParamInfo& param) {
  std::string head =
      fmt::format("{}{}", param.name,
                  param.default_text.empty() ? std::string(" (must be given)")
                                             : fmt::format("={}", param.default_text));
  if (!param.choices.empty()) {
    head += fmt::format(" (one of {})", param.choices);
  }
  if (!param.optimistic.empty()) {
    head += fmt::format(" (declared range {} to {})", param.optimistic, param.pessimistic);
  }
  return head;
}

std::string parameter_rows(std::span<const ParamInfo> params, std::size_t width) {
  std::string out;
  for (const ParamInfo& param : params) {
    out +=
        report::paragraph(heading(out.empty() ? "parameters" : ""), parameter_head(param), width);
    out += report::paragraph(
        std::string(heading_width + 4, ' '),
        param.unit.empty() ? std::string(param.doc) : fmt::format("[{}] {}", param.unit, param.doc),
        width);
  }
  return out;
}

/// With which others an optimization is not tried, and with which settings; nothing of a policy.
template <typename Info>
std::string combination_text(const Info& info, std::size_t width) {
  std::string text;
  if constexpr (requires { info.conflicts; }) {
    if (!info.conflicts.empty()) {
      text += report::paragraph(heading("not with"),
                                fmt::format("{}", fmt::join(info.conflicts, ", ")), width);
    }
    if (!info.memory_settings.empty()) {
      text += report::paragraph(heading("--fit tries"),
                                fmt::format("{}", fmt::join(info.memory_settings, "; ")), width);
    }
  }
  return text;
}

/// Of an optimization or a policy; `use` is the command that takes it.
template <typename Info>
std::string recipe_text(const Info& info, std::string_view use, const report::TextStyle& style) {
  std::string required;
  for (const ParamInfo& param : info.params) {
    if (param.default_text.empty()) {
      required += fmt::format("{}{}=...", required.empty() ? ":" : ",", param.name);
    }
  }
  const std::size_t width = style.width;
  return report::paragraph(fmt::format("{}: ", info.name), info.summary, width) + "\n" +
         report::paragraph(heading("paper"), info.paper, width) + "\n" +
         block("changes", info.recipe, width) + "\n" +
         style.strong("Do not trust it where one of these is false:") + "\n" +
         bullets("assumes", info.assumptions, width) + "\n" + style.strong("It leaves out:") +
         "\n" + bullets("ignores", info.ignores, width) + "\n" +
         parameter_rows(info.params, width) + (info.params.empty() ? "" : "\n") +
         report::paragraph(heading("calibrate"), info.calibrate, width) +
         combination_text(info, width) + "\n" +
         fmt::format("{}$ foretrace {} {}{}\n", heading("try"), use, info.name, required);
}

std::string rate_text(double rate, double unit, std::string_view name) {
  return rate > 0 ? fmt::format("{:.4g} {}", rate / unit, name) : std::string("unknown");
}

/// Figure, value and source key of an accelerator.
struct Figure {
  std::string name;
  std::string value;
};

std::vector<Figure> figures_of(const Accelerator& accelerator) {
  std::vector<Figure> figures = {
      {"memory", report::bytes_text(accelerator.memory_bytes)},
      {"memory bandwidth", rate_text(accelerator.memory_bandwidth, 1e12, "TB/s")},
      {"multiprocessors", fmt::format("{}", accelerator.multiprocessors)},
      {"vector fp32", rate_text(accelerator.vector_fp32_flops, 1e12, "TFLOP/s")}};
  for (std::size_t i = 1; i < precision_count; ++i) {
    if (accelerator.peak_flops[i] > 0) {
      figures.push_back({std::string(to_string(static_cast<Precision>(i))),
                         rate_text(accelerator.peak_flops[i], 1e12, "TFLOP/s")});
    }
  }
  figures.push_back({"links, one direction", rate_text(accelerator.link_bandwidth, 1e9, "GB/s")});
  figures.push_back({"launch latency", report::time_text(accelerator.launch_latency_ns)});
  figures.push_back({"gap between kernels", report::time_text(accelerator.kernel_gap_ns)});
  if (accelerator.shortest_kernel_ns > 0) {
    figures.push_back(
        {"start and end of a kernel", report::time_text(accelerator.shortest_kernel_ns)});
  }
  const SustainedClock& clock = accelerator.sustained_clock;
  if (clock.low < clock.high) {
    figures.push_back({"sustained clock", fmt::format("{:.2f} ({:.2f} to {:.2f})", clock.typical,
                                                      clock.low, clock.high)});
  }
  figures.push_back({"launch queue", accelerator.queue_depth == 0
                                         ? std::string("no limit")
                                         : report::plural(accelerator.queue_depth, "entry")});
  return figures;
}

std::string accelerator_text(const Accelerator& accelerator, const report::TextStyle& style) {
  report::Grid table({report::Grid::Align::left, report::Grid::Align::right});
  for (const Figure& figure : figures_of(accelerator)) {
    table.row({figure.name, figure.value});
  }
  std::string out = fmt::format("{}: {}\n\n", accelerator.name, accelerator.product);
  out += table.text(2, style) + "\nPeak rates are dense. Sources:\n";
  for (const auto& [key, source] : accelerator.sources) {
    out += report::paragraph(fmt::format("  {}: ", key), source, style.width);
  }
  return out;
}

Json accelerator_json(const Accelerator& accelerator) {
  Json peaks = Json::object();
  for (std::size_t i = 1; i < precision_count; ++i) {
    if (accelerator.peak_flops[i] > 0) {
      peaks[std::string(to_string(static_cast<Precision>(i)))] = accelerator.peak_flops[i];
    }
  }
  Json sources = Json::object();
  for (const auto& [key, source] : accelerator.sources) {
    sources[key] = source;
  }
  return {{"name", accelerator.name},
          {"summary", accelerator.product},
          {"trace_names", accelerator.trace_names},
          {"peak_flops", std::move(peaks)},
          {"vector_fp32_flops", accelerator.vector_fp32_flops},
          {"memory_bandwidth", accelerator.memory_bandwidth},
          {"memory_bytes", accelerator.memory_bytes},
          {"multiprocessors", accelerator.multiprocessors},
          {"link_bandwidth", accelerator.link_bandwidth},
          {"launch_latency_ns", accelerator.launch_latency_ns},
          {"kernel_gap_ns", accelerator.kernel_gap_ns},
          {"shortest_kernel_ns", accelerator.shortest_kernel_ns},
          {"sustained_clock",
           {{"typical", accelerator.sustained_clock.typical},
            {"low", accelerator.sustained_clock.low},
            {"high", accelerator.sustained_clock.high}}},
          {"queue_depth", accelerator.queue_depth},
          {"sources", std::move(sources)}};
}

void add_kind(std::string_view kind, std::vector<Component>& found) {
  if (kind == optimizations_kind) {
    for (const OptimizationInfo* const info : optimizations::all()) {
      found.push_back({kind, std::string(info->name), std::string(info->summary)});
    }
  } else if (kind == policies_kind) {
    for (const PolicyInfo* const info : policies::all()) {
      found.push_back({kind, std::string(info->name), std::string(info->summary)});
    }
  } else if (kind == schedulers_kind) {
    for (const SchedulerInfo* const info : schedulers::all()) {
      found.push_back({kind, std::string(info->name), std::string(info->summary)});
    }
  } else if (kind == placements_kind) {
    for (const PlacementInfo* const info : placements::all()) {
      found.push_back({kind, std::string(info->name), std::string(info->summary)});
    }
  } else if (kind == accelerators_kind) {
    for (const std::string& name : accelerator_names()) {
      const Result<Accelerator> accelerator = find_accelerator(name);
      found.push_back(
          {kind, name, accelerator.ok() ? accelerator->product : accelerator.error().message});
    }
  } else if (kind == writers_kind) {
    for (const trace::WriterInfo* const writer : trace::writers::all()) {
      found.push_back({kind, std::string(writer->name), std::string(writer->summary)});
    }
  } else {
    for (const trace::ReaderInfo* const reader : trace::readers::all()) {
      found.push_back({kind, std::string(reader->name), std::string(reader->summary)});
    }
  }
}

/// The one of this name.
template <typename Info>
const Info& called(std::string_view name, std::span<const Info* const> formats) {
  return **std::find_if(formats.begin(), formats.end(),
                        [&](const Info* format) { return format->name == name; });
}

template <typename Info>
Json format_json(const Info& format) {
  return {{"name", format.name}, {"summary", format.summary}, {"suffixes", format.suffixes}};
}

template <typename Info>
std::string format_text(const Info& format, std::string_view use, const report::TextStyle& style) {
  return report::paragraph(fmt::format("{}: ", format.name), format.summary, style.width) +
         fmt::format("\n{}: {}\n", use, format.suffixes);
}

}  // namespace

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {optimizations_kind, "what-ifs that whatif --apply takes"},
      {policies_kind, "what --when-full takes: how a run stays within a --memory-budget"},
      {schedulers_kind, "policies that schedule takes: who runs next on a cluster"},
      {placements_kind, "placements of a schedule file: which accelerators a job gets"},
      {accelerators_kind, "products that whatif --accelerator takes, from configs/accelerators"},
      {readers_kind, "trace formats, recognized by their content"},
      {writers_kind, "trace formats that convert writes, chosen by the name of the file or --to"}};
  return all;
}

Result<std::vector<Component>> components(std::string_view kind) {
  std::vector<std::string_view> names;
  std::vector<Component> found;
  bool known = kind.empty();
  for (const Kind& candidate : kinds()) {
    names.push_back(candidate.name);
    if (kind.empty() || candidate.name == kind) {
      known = true;
      add_kind(candidate.name, found);
    }
  }
  if (!known) {
    return Error{ErrorCode::not_found,
                 fmt::format("list: unknown kind '{}', expected one of {}{}", kind,
                             join(names, ", "), did_you_mean(kind, names))};
  }
  return found;
}

Result<Json> describe(const Component& component) {
  if (component.kind == optimizations_kind) {
    return recipe_json(**driver::find_optimization(component.name));
  }
  if (component.kind == policies_kind) {
    return recipe_json(called(component.name, policies::all()));
  }
  if (component.kind == schedulers_kind) {
    return recipe_json(called(component.name, schedulers::all()));
  }
  if (component.kind == placements_kind) {
    return recipe_json(called(component.name, placements::all()));
  }
  if (component.kind == accelerators_kind) {
    const Result<Accelerator> accelerator = find_accelerator(component.name);
    return accelerator.ok() ? Result<Json>(accelerator_json(*accelerator)) : accelerator.error();
  }
  if (component.kind == writers_kind) {
    return format_json(called(component.name, trace::writers::all()));
  }
  return format_json(called(component.name, trace::readers::all()));
}

Result<std::string> explanation(const Component& component, const report::TextStyle& style) {
  if (component.kind == optimizations_kind) {
    return recipe_text(**driver::find_optimization(component.name), "whatif TRACE --apply", style);
  }
  if (component.kind == policies_kind) {
    return recipe_text(called(component.name, policies::all()),
                       "simulate TRACE --memory-budget '80 %' --when-full", style);
  }
  if (component.kind == schedulers_kind) {
    return recipe_text(called(component.name, schedulers::all()), "schedule RUN.json --policy",
                       style);
  }
  if (component.kind == placements_kind) {
    return recipe_text(called(component.name, placements::all()), "list placements #", style);
  }
  if (component.kind == accelerators_kind) {
    const Result<Accelerator> accelerator = find_accelerator(component.name);
    return accelerator.ok() ? Result<std::string>(accelerator_text(*accelerator, style))
                            : accelerator.error();
  }
  if (component.kind == writers_kind) {
    return format_text(called(component.name, trace::writers::all()),
                       "written to names that end in", style);
  }
  std::string text =
      format_text(called(component.name, trace::readers::all()), "usual names", style);
  for (const trace::WriterInfo* const writer : trace::writers::all()) {
    if (writer->name == component.name) {
      text += fmt::format("convert writes it to names that end in: {}\n", writer->suffixes);
    }
  }
  return text;
}

}  // namespace foretrace::app
