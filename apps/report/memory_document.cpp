// Reports of device memory as JSON.
#include <nlohmann/json.hpp>

#include "apps/report/document_parts.h"

namespace foretrace::driver {
namespace {

Json shares_json(const std::vector<MemoryShare>& shares) {
  Json list = Json::array();
  for (const MemoryShare& share : shares) {
    list.push_back({{"name", share.name}, {"bytes", share.bytes}, {"tensors", share.tensors}});
  }
  return list;
}

Json reserved_json(const ReservedRange& range) {
  return {{"expected_bytes", range.expected_bytes},
          {"low_bytes", range.low_bytes},
          {"high_bytes", range.high_bytes},
          {"fresh_bytes", range.fresh_bytes},
          {"recorded_bytes", known(range.recorded_bytes)},
          {"free_bytes", range.fragmentation.free_bytes},
          {"largest_free_bytes", range.fragmentation.largest_free_bytes},
          {"stuck_bytes", range.fragmentation.stuck_bytes},
          {"retries", range.retries}};
}

Json fits_json(const std::vector<MemoryFit>& fits) {
  Json list = Json::array();
  for (const MemoryFit& fit : fits) {
    list.push_back({{"accelerator", fit.accelerator},
                    {"capacity_bytes", fit.capacity_bytes},
                    {"verdict", to_string(fit.verdict)},
                    {"retries", fit.retries},
                    {"fails_at", fit.fails_at.empty() ? Json(nullptr) : Json(fit.fails_at)}});
  }
  return list;
}

Json curve_json(const MemoryCurve& curve) {
  Json times = Json::array();
  Json live = Json::array();
  for (const MemoryPoint& point : curve.points) {
    times.push_back(point.time_ns);
    live.push_back(point.live_bytes);
  }
  return {{"time_ns", std::move(times)}, {"live_bytes", std::move(live)}};
}

}  // namespace

Json memory_reports_json(const std::vector<MemoryReport>& reports) {
  Json list = Json::array();
  for (const MemoryReport& report : reports) {
    const MemoryCurve& curve = report.curve;
    Json without = Json::object();
    for (std::size_t c = 0; c < tensor_category_count; ++c) {
      if (report.peak_without[c] < curve.peak_bytes) {
        without[std::string(to_string(static_cast<TensorCategory>(c)))] = report.peak_without[c];
      }
    }
    list.push_back({{"rank", curve.rank},
                    {"device", curve.device},
                    {"events", curve.points.size()},
                    {"allocated_peak_bytes", curve.peak_bytes},
                    {"peak_at_ns", curve.peak_at_ns},
                    {"peak_operator", report.peak_operator},
                    {"peak_layer", report.peak_layer},
                    {"peak_phase", to_string(report.peak_phase)},
                    {"allocated_before_bytes", curve.base_bytes},
                    {"of_it_freed_bytes", report.older_freed_bytes},
                    {"of_it_assumed_bytes", report.assumed_bytes},
                    {"allocated_after_bytes", curve.end_bytes},
                    {"reserved", reserved_json(report.reserved)},
                    {"static_plan_bytes", known(report.planned_bytes)},
                    {"no_reuse_bytes", known(report.no_reuse_bytes)},
                    {"categories", shares_json(report.categories)},
                    {"layers", shares_json(report.layers)},
                    {"operators", shares_json(report.operators)},
                    {"largest", shares_json(report.largest)},
                    {"peak_without_bytes", std::move(without)},
                    {"fits", fits_json(report.fits)},
                    {"curve", curve_json(curve)}});
  }
  return list;
}

}  // namespace foretrace::driver
