// The energy of a step, as documents and detailed pages have it.
#pragma once

#include <string>

#include "apps/report/section.h"
#include "models/hardware/power/board_power.h"
#include "sim/core/result.h"

namespace foretrace::report {

/// "31.2 J per step and device, between 23.5 J and 36.8 J, 412 W on the mean; assumed".
[[nodiscard]] std::string energy_text(const Energy& energy);
[[nodiscard]] Value energy_value(const Energy& energy);
/// In documents below `path`, on pages a row with details.
[[nodiscard]] Section energy_section(const std::string& path, const std::string& label,
                                     const Energy& energy);
/// Why there is none, in words, and as a line of its own.
[[nodiscard]] std::string energy_failure_text(const Error& error);
[[nodiscard]] Section energy_failure(const Error& error);

}  // namespace foretrace::report
