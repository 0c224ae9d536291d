// A run within a memory budget as JSON.
#include <nlohmann/json.hpp>

#include "apps/report/document_parts.h"

namespace foretrace::driver {
namespace {

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json devices_json(const BudgetAnswer& answer) {
  Json list = Json::array();
  for (const BudgetDevice& device : answer.devices) {
    list.push_back({{"rank", device.rank},
                    {"device", device.device},
                    {"budget_bytes", device.budget_bytes},
                    {"before_window_bytes", device.base_bytes},
                    {"assumed_bytes", device.assumed_bytes},
                    {"needed_peak_bytes", device.free_peak_bytes},
                    {"peak_bytes", answer.fits ? Json(device.peak_bytes) : Json(nullptr)}});
  }
  return list;
}

Json stop_json(const BudgetStop& stop) {
  return {{"rank", stop.pressure.rank},
          {"device", stop.pressure.device},
          {"task", index(stop.pressure.task)},
          {"call", stop.task},
          {"operator", text_or_null(stop.operator_name)},
          {"layer", text_or_null(stop.layer)},
          {"phase", to_string(stop.phase)},
          {"missing_bytes", stop.pressure.missing_bytes},
          {"live_bytes", stop.pressure.live_bytes},
          {"recomputed_without_end", stop.gave_up}};
}

}  // namespace

Json budget_json(const BudgetAnswer& answer) {
  Json parameters = Json::object();
  for (const auto& [name, value] : answer.choice.parameters) {
    parameters[name] = value;
  }
  Json remedies = Json::array();
  for (const BudgetTry& tried : answer.remedies) {
    remedies.push_back({{"when_full", tried.name},
                        {"fits", tried.fits},
                        {"step_ns", tried.fits ? Json(tried.step_ns) : Json(nullptr)}});
  }
  const PolicyCounts& counts = answer.counts;
  return {{"fits", answer.fits},
          {"budget_is_felt", answer.is_needed},
          {"when_full", {{"name", answer.choice.name}, {"parameters", std::move(parameters)}}},
          {"devices", devices_json(answer)},
          {"step_before_ns", answer.step_before_ns},
          {"step_after_ns", answer.fits ? Json(answer.step_after_ns) : Json(nullptr)},
          {"span_before_ns", answer.span_before_ns},
          {"span_after_ns", answer.fits ? Json(answer.span_after_ns) : Json(nullptr)},
          {"evictions", counts.evictions},
          {"evicted_bytes", counts.evicted_bytes},
          {"recomputed_kernels", counts.recomputed_kernels},
          {"recomputed_ns", counts.recomputed_ns},
          {"swaps", counts.swaps},
          {"swapped_out_bytes", counts.out_bytes},
          {"swapped_in_bytes", counts.in_bytes},
          {"copy_ns", counts.copy_ns},
          {"memory_waits", answer.memory_waits},
          {"memory_waited_ns", answer.memory_waited_ns},
          {"stop", answer.stop ? stop_json(*answer.stop) : Json(nullptr)},
          {"remedies", std::move(remedies)},
          {"enough_bytes", answer.enough_bytes > 0 ? Json(answer.enough_bytes) : Json(nullptr)},
          {"enough_with", text_or_null(answer.enough_with)}};
}

}  // namespace foretrace::driver
