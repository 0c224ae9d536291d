// What a recording of single steps says about the steps that were seen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trace/collect/settings.h"
#include "trace/ftr/texts.h"

namespace foretrace::trace::collector {

// Facts of a recording: the range asked for (at its head), what was counted (at its end).
inline constexpr std::string_view steps_fact = "steps";
inline constexpr std::string_view steps_seen_fact = "steps seen";
inline constexpr std::string_view steps_by_fact = "steps by";

/// Empty if all steps that were asked for were recorded, or if none were; else one sentence on what
/// is missing and why.
[[nodiscard]] std::string step_warning(const ftr::Pairs& facts);

/// "10:12 of 40, counted by steps"; empty if no steps were asked for.
[[nodiscard]] std::string step_text(const ftr::Pairs& facts);

}  // namespace foretrace::trace::collector
