// The exclusive parts that sum to a step, with the names that documents and pages have for them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "apps/report/section.h"
#include "sim/result/summary.h"

namespace foretrace::report {

struct BreakdownPart {
  std::string_view key;
  std::string_view title;
  std::int64_t Breakdown::*time_ns;
};
inline constexpr std::array<BreakdownPart, 6> breakdown_parts = {
    {{"compute_ns", "device computes", &Breakdown::compute_ns},
     {"memory_copy_ns", "device copies", &Breakdown::memory_copy_ns},
     {"communication_exposed_ns", "exposed communication", &Breakdown::communication_exposed_ns},
     {"communication_waiting_ns", "waiting for late ranks", &Breakdown::communication_waiting_ns},
     {"host_bound_ns", "device waits for the host", &Breakdown::host_bound_ns},
     {"idle_ns", "latencies and gaps", &Breakdown::idle_ns}}};

/// "77 % of the step is ...".
[[nodiscard]] inline std::string_view name_in_sentence(const BreakdownPart& part) {
  if (part.time_ns == &Breakdown::compute_ns) return "GPU computation";
  if (part.time_ns == &Breakdown::host_bound_ns) return "the GPU waiting for the CPU";
  return part.title;
}

/// All parts at `path`, for documents.
[[nodiscard]] inline Section breakdown_section(std::string key, std::string path,
                                               const Breakdown& breakdown) {
  Section section{.key = std::move(key), .path = std::move(path), .show = Show::never};
  for (const BreakdownPart& part : breakdown_parts) {
    section.datum(std::string(part.key), Value::time(breakdown.*part.time_ns));
  }
  return section;
}

}  // namespace foretrace::report
