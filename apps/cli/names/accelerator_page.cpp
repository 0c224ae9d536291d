#include "apps/cli/names/accelerator_page.h"

#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/report/grid.h"
#include "models/hardware/execution/exec_model.h"

namespace foretrace::app {
namespace {

using Json = nlohmann::ordered_json;

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
  figures.push_back(
      {"link to the host, each way", rate_text(accelerator.host_link_bandwidth, 1e9, "GB/s")});
  figures.push_back({"launch latency", report::time_text(accelerator.launch_latency_ns)});
  figures.push_back({"gap between kernels", report::time_text(accelerator.kernel_gap_ns)});
  if (accelerator.shortest_kernel_ns > 0) {
    figures.push_back(
        {"start and end of a kernel", report::time_text(accelerator.shortest_kernel_ns)});
  }
  if (accelerator.shortest_product_ns > 0) {
    figures.push_back(
        {"start and end of a product", report::time_text(accelerator.shortest_product_ns)});
  }
  if (accelerator.product_bandwidth_share > 0) {
    figures.push_back({"bandwidth that products reach",
                       fmt::format("{:.0f} %", 100 * accelerator.product_bandwidth_share)});
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

}  // namespace

std::string accelerator_text(const Accelerator& accelerator, const report::TextStyle& style) {
  report::Grid table({{}, {.align = report::Grid::Align::right}});
  for (const Figure& figure : figures_of(accelerator)) {
    table.row({figure.name, figure.value});
  }
  std::string out = fmt::format("{}: {}\n\n", accelerator.name, accelerator.product);
  if (accelerator.exec_model != nullptr) {
    for (const ExecModel::PartTexts& part : accelerator.exec_model->parts()) {
      table.row({std::string(part.name), ""});
      for (const auto& [name, value] : part.params) table.row({"  " + name, value});
    }
  }
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
  Json object = {{"name", accelerator.name},
                 {"summary", accelerator.product},
                 {"trace_names", accelerator.trace_names},
                 {"peak_flops", std::move(peaks)},
                 {"vector_fp32_flops", accelerator.vector_fp32_flops},
                 {"memory_bandwidth", accelerator.memory_bandwidth},
                 {"memory_bytes", accelerator.memory_bytes},
                 {"multiprocessors", accelerator.multiprocessors},
                 {"link_bandwidth", accelerator.link_bandwidth},
                 {"host_link_bandwidth", accelerator.host_link_bandwidth},
                 {"launch_latency_ns", accelerator.launch_latency_ns},
                 {"kernel_gap_ns", accelerator.kernel_gap_ns},
                 {"shortest_kernel_ns", accelerator.shortest_kernel_ns},
                 {"shortest_product_ns", accelerator.shortest_product_ns},
                 {"product_bandwidth_share", accelerator.product_bandwidth_share},
                 {"sustained_clock",
                  {{"typical", accelerator.sustained_clock.typical},
                   {"low", accelerator.sustained_clock.low},
                   {"high", accelerator.sustained_clock.high}}},
                 {"queue_depth", accelerator.queue_depth},
                 {"sources", std::move(sources)}};
  if (accelerator.exec_model != nullptr) {
    Json& model = object["exec_model"] = Json::object();
    for (const ExecModel::PartTexts& part : accelerator.exec_model->parts()) {
      Json& params = model[std::string(part.name)] = Json::object();
      for (const auto& [name, value] : part.params) params[name] = value;
    }
  }
  return object;
}

}  // namespace foretrace::app
