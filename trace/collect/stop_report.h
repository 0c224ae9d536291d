// What a recording says that stopped before its program did.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/ftr/texts.h"

namespace foretrace::trace::collector {

// A fact at the end of a recording: how many kernels, copies and sets it has.
inline constexpr std::string_view device_work_fact = "device work";

/// "2026-11-21 16:42:00 UTC" of seconds since 1970; the number if it is no date.
[[nodiscard]] std::string utc_text(std::int64_t seconds);

/// Empty if recording went on to the end of the program; else one sentence on when it stopped and
/// why.
[[nodiscard]] std::string stop_warning(const ftr::Pairs& facts);

/// Empty for a recording that was ended; else one sentence on what a program loses that ends
/// without its exit handlers.
[[nodiscard]] std::string cut_warning(const ftr::Pairs& facts);

}  // namespace foretrace::trace::collector
