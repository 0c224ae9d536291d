// Reports of device memory, as documents have them.
#include "apps/report/pages/inspect.h"
#include "apps/session/memory/memory_report.h"

namespace foretrace::report::sections {
namespace {

Value shares_value(const std::vector<MemoryShare>& shares) {
  Value::List list;
  for (const MemoryShare& share : shares) {
    list.push_back(Value::object({{"name", Value::words(share.name)},
                                  {"bytes", Value::bytes(share.bytes)},
                                  {"tensors", Value::count(share.tensors)}}));
  }
  return Value::list(std::move(list));
}

Value reserved_value(const ReservedRange& range) {
  return Value::object(
      {{"expected_bytes", Value::bytes(range.expected_bytes)},
       {"low_bytes", Value::bytes(range.low_bytes)},
       {"high_bytes", Value::bytes(range.high_bytes)},
       {"fresh_bytes", Value::bytes(range.fresh_bytes)},
       {"recorded_bytes", Value::known_bytes(range.recorded_bytes)},
       {"free_bytes", Value::bytes(range.fragmentation.free_bytes)},
       {"largest_free_bytes", Value::bytes(range.fragmentation.largest_free_bytes)},
       {"stuck_bytes", Value::bytes(range.fragmentation.stuck_bytes)},
       {"retries", Value::count(range.retries)}});
}

Value fits_value(const std::vector<MemoryFit>& fits) {
  Value::List list;
  for (const MemoryFit& fit : fits) {
    list.push_back(Value::object({{"accelerator", Value::words(fit.accelerator)},
                                  {"capacity_bytes", Value::bytes(fit.capacity_bytes)},
                                  {"verdict", Value::words(to_string(fit.verdict))},
                                  {"retries", Value::count(fit.retries)},
                                  {"fails_at", Value::known_words(fit.fails_at)}}));
  }
  return Value::list(std::move(list));
}

Value curve_value(const MemoryCurve& curve) {
  Value::Numbers times;
  Value::Numbers live;
  for (const MemoryPoint& point : curve.points) {
    times.push_back(point.time_ns);
    live.push_back(point.live_bytes);
  }
  return Value::object({{"time_ns", Value::numbers(std::move(times))},
                        {"live_bytes", Value::numbers(std::move(live))}});
}

Value without_value(const MemoryReport& report) {
  Value::Object without;
  for (std::size_t c = 0; c < tensor_category_count; ++c) {
    if (report.peak_without[c] < report.curve.peak_bytes) {
      without.push_back({std::string(to_string(static_cast<TensorCategory>(c))),
                         Value::bytes(report.peak_without[c])});
    }
  }
  return Value::object(std::move(without));
}

Value report_value(const MemoryReport& report) {
  const MemoryCurve& curve = report.curve;
  return Value::object({{"rank", Value::plain(curve.rank)},
                        {"device", Value::plain(curve.device)},
                        {"events", Value::count(curve.points.size())},
                        {"allocated_peak_bytes", Value::bytes(curve.peak_bytes)},
                        {"peak_at_ns", Value::time(curve.peak_at_ns)},
                        {"peak_operator", Value::words(report.peak_operator)},
                        {"peak_layer", Value::words(report.peak_layer)},
                        {"peak_phase", Value::words(to_string(report.peak_phase))},
                        {"allocated_before_bytes", Value::bytes(curve.base_bytes)},
                        {"of_it_freed_bytes", Value::bytes(report.older_freed_bytes)},
                        {"of_it_assumed_bytes", Value::bytes(report.assumed_bytes)},
                        {"allocated_after_bytes", Value::bytes(curve.end_bytes)},
                        {"reserved", reserved_value(report.reserved)},
                        {"static_plan_bytes", Value::known_bytes(report.planned_bytes)},
                        {"no_reuse_bytes", Value::known_bytes(report.no_reuse_bytes)},
                        {"categories", shares_value(report.categories)},
                        {"layers", shares_value(report.layers)},
                        {"operators", shares_value(report.operators)},
                        {"largest", shares_value(report.largest)},
                        {"peak_without_bytes", without_value(report)},
                        {"fits", fits_value(report.fits)},
                        {"curve", curve_value(curve)}});
}

}  // namespace

Sections device_memory_document(const InspectAnswer& answer) {
  const Inspection& found = answer.found;
  if (!found.has_memory_reports) return {};
  const trace::ParameterEstimate& model = found.model;
  Section section{.key = "device_memory", .path = "device_memory", .show = Show::never};
  section.datum(
      "model",
      Value::object(
          {{"provenance",
            Value::words(to_string(model.is_exact ? Provenance::measured : Provenance::assumed))},
           {"parameters", Value::plain(model.parameters)},
           {"parameter_bytes", Value::bytes(model.parameter_bytes)},
           {"buffer_bytes", Value::bytes(model.buffer_bytes)},
           {"maybe_tied_bytes", Value::bytes(model.tied_bytes)},
           {"optimizer", Value::known_words(model.optimizer)},
           {"state_bytes", Value::bytes(model.trains ? model.states * model.parameter_bytes : 0)},
           {"gradient_bytes", Value::bytes(model.trains ? model.parameter_bytes : 0)}}));
  Value::List devices;
  for (const MemoryReport& report : found.memory_reports) devices.push_back(report_value(report));
  section.datum("devices", Value::list(std::move(devices)));
  if (!found.memory_note.empty()) {
    section.datum("rests_on", Value::words(found.memory_note));
    section.datum("has_times", Value::flag(found.memory_nodes == 0));
  }
  return {std::move(section)};
}

}  // namespace foretrace::report::sections
