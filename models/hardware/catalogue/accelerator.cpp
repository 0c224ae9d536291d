// Reads accelerator files.
#include "models/hardware/catalogue/accelerator.h"

#include <charconv>
#include <filesystem>

#include <fmt/format.h>

#include "models/hardware/catalogue/read_figures.h"
#include "models/hardware/catalogue/sources.h"
#include "models/hardware/execution/exec_model.h"
#include "sim/core/config.h"
#include "sim/core/params.h"

namespace foretrace {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view schema = "foretrace.accelerator/1";

// Rates by precision: {"fp16": "312 TFLOP/s"}; what is absent stays 0 (unknown).
void read_rates(ConfigFields& fields, std::string_view key, const ConfigValue* object,
                std::array<double, precision_count>& rates) {
  if (object == nullptr) return;
  ConfigFields inner(*object, fields.file(), fields.pointer_of(key));
  for (std::size_t i = 1; i < precision_count; ++i) {
    inner.optional_quantity(to_string(static_cast<Precision>(i)), ParamType::flops, rates[i]);
    if (rates[i] < 0) inner.mistake(to_string(static_cast<Precision>(i)), "is negative");
  }
  fields.take(inner.finish());
}

double read_positive(ConfigFields& fields, std::string_view key, ParamType type) {
  double value = 0;
  fields.quantity(key, type, value);
  if (fields.has(key) && !(value > 0 && value < 1e18)) {
    fields.mistake(key,
                   fmt::format("got a value that is not positive, expected {}", expectation(type)));
    value = 1;
  }
  return value;
}

void read_clock(ConfigFields& fields, SustainedClock& clock) {
  const ConfigValue* object = fields.optional_object("sustained_clock");
  if (object == nullptr) return;
  ConfigFields inner(*object, fields.file(), fields.pointer_of("sustained_clock"));
  inner.quantity("typical", ParamType::number, clock.typical);
  inner.quantity("low", ParamType::number, clock.low);
  inner.quantity("high", ParamType::number, clock.high);
  fields.take(inner.finish());
  if (clock.low >= 0.1 && clock.low <= clock.typical && clock.typical <= clock.high &&
      clock.high <= 10) {
    return;
  }
  fields.mistake("sustained_clock", fmt::format("got low {:g}, typical {:g}, high {:g}, expected "
                                                "0.1 <= low <= typical <= high <= 10",
                                                clock.low, clock.typical, clock.high));
  clock = {};
}

// "8.6": generation and revision, as device properties have them.
void read_capability(ConfigFields& fields, Accelerator& accelerator) {
  if (!fields.has("compute_capability")) return;
  std::string text;
  fields.text("compute_capability", text);
  const std::size_t dot = text.find('.');
  const auto number = [&text](std::size_t from, std::size_t to, std::int32_t& value) {
    const char* const end = text.data() + to;
    const auto [stop, error] = std::from_chars(text.data() + from, end, value);
    return error == std::errc() && stop == end && value >= 0 && value < 1000;
  };
  if (dot != std::string::npos && number(0, dot, accelerator.compute_major) &&
      number(dot + 1, text.size(), accelerator.compute_minor)) {
    return;
  }
  fields.mistake("compute_capability",
                 fmt::format("got {}, expected two numbers such as '8.6'", in_quotes(text)));
}

void read_exec_model(ConfigFields& fields, Accelerator& accelerator) {
  const ConfigValue* object = fields.optional_object("exec_model");
  if (object == nullptr) return;
  auto model = ExecModel::read(*object);
  if (!model.ok()) return fields.mistake("exec_model", model.error().message);
  accelerator.exec_model = std::make_shared<const ExecModel>(*std::move(model));
}

Result<Accelerator> accelerator_from(const ConfigValue& root, const std::string& path) {
  constexpr double longest = 1e12;  // ns; a launch latency of 1000 s is a mistake
  Accelerator accelerator;
  accelerator.name = fs::path(path).stem().string();
  ConfigFields fields(root, path);
  fields.text("product", accelerator.product);
  fields.texts("trace_names", accelerator.trace_names);
  read_rates(fields, "peak_flops", fields.object("peak_flops"), accelerator.peak_flops);
  read_rates(fields, "sustained_flops", fields.optional_object("sustained_flops"),
             accelerator.sustained_flops);
  read_clock(fields, accelerator.sustained_clock);
  accelerator.vector_fp32_flops = read_positive(fields, "vector_fp32_flops", ParamType::flops);
  accelerator.memory_bytes =
      static_cast<std::int64_t>(read_positive(fields, "memory_size", ParamType::bytes));
  accelerator.memory_bandwidth = read_positive(fields, "memory_bandwidth", ParamType::bandwidth);
  accelerator.multiprocessors =
      static_cast<std::int32_t>(read_within(fields, "multiprocessors", ParamType::integer, 1e6));
  read_capability(fields, accelerator);
  fields.optional_quantity("link_bandwidth", ParamType::bandwidth, accelerator.link_bandwidth);
  fields.optional_quantity("host_link_bandwidth", ParamType::bandwidth,
                           accelerator.host_link_bandwidth);
  accelerator.launch_latency_ns =
      static_cast<std::int64_t>(read_within(fields, "launch_latency", ParamType::time, longest));
  accelerator.kernel_gap_ns =
      static_cast<std::int64_t>(read_within(fields, "kernel_gap", ParamType::time, longest));
  accelerator.shortest_kernel_ns = static_cast<std::int64_t>(
      optional_within(fields, "shortest_kernel", ParamType::time, longest, 0));
  accelerator.shortest_product_ns = static_cast<std::int64_t>(
      optional_within(fields, "shortest_product", ParamType::time, longest, 0));
  accelerator.product_bandwidth_share =
      optional_within(fields, "product_bandwidth_share", ParamType::number, 1, 0);
  accelerator.queue_depth =
      static_cast<std::uint32_t>(read_within(fields, "queue_depth", ParamType::integer, 1e9));
  read_exec_model(fields, accelerator);
  constexpr std::array<std::string_view, 4> no_figures = {"schema", "product", "trace_names",
                                                          "sources"};
  accelerator.sources = read_sources(fields, root, no_figures);
  if (accelerator.link_bandwidth < 0) fields.mistake("link_bandwidth", "is negative");
  if (accelerator.host_link_bandwidth < 0) fields.mistake("host_link_bandwidth", "is negative");
  FORETRACE_TRY(fields.finish());
  return accelerator;
}

}  // namespace

Result<Accelerator> read_accelerator(const std::string& path) {
  FORETRACE_TRY(const std::string text, read_config_text(path));
  return parse_accelerator(text, path);
}

Result<Accelerator> parse_accelerator(std::string_view text, const std::string& where) {
  FORETRACE_TRY(auto root, parse_config_document(text, where, schema));
  return accelerator_from(root, where);
}

}  // namespace foretrace
