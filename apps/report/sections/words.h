// Figures and phrases that several sections share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "apps/questions/compare/compare.h"
#include "apps/report/section.h"
#include "apps/session/predict.h"
#include "apps/session/recording/inspect.h"
#include "apps/session/recording/load.h"
#include "apps/session/replay/analysis.h"
#include "apps/session/replay/memory_need.h"

namespace foretrace::report {

/// part / whole; 0 if there is no whole.
[[nodiscard]] double share_of(std::int64_t part, std::int64_t whole);
/// after / before - 1; 0 if there was nothing.
[[nodiscard]] double change_of(std::int64_t after, std::int64_t before);
/// "-60.1 %".
[[nodiscard]] std::string change_text(std::int64_t after, std::int64_t before);

/// "name.json.gz, 75,718 events, NVIDIA A100".
[[nodiscard]] std::string trace_text(const Recording& recording);
/// "span" or "step".
[[nodiscard]] std::string_view step_word(const StepAnswer& answer);
/// "step 50.93 ms measured, 50.93 ms simulated (0.00 %)".
[[nodiscard]] std::string replay_text(const Replay& replay);
/// "measured 84.1 %, scaled 15.9 %".
[[nodiscard]] std::string provenance_text(const Analysis& analysis);

/// More devices do more than their part from here on, which is explained where it is shown.
inline constexpr double most_efficiency = 1.0005;
inline constexpr std::string_view above_all_text =
    "waits of fewer devices (loading, launches, late ranks) overlap with work of other stages or "
    "ranks or are gone, and larger passes use a device better";

/// "24.0 GiB" or "24.0 GiB of rtx_4090".
[[nodiscard]] std::string target_text(const MemoryTarget& target);
/// What is compared with the size, and the range beside it.
[[nodiscard]] std::string comparison_text(const MemoryTarget& target);
/// "21.5 .. 24.9 GiB".
[[nodiscard]] std::string need_range_text(const MemoryTarget& target, const MemoryNeed& need);

/// "name.json.gz: step 50.93 ms measured, 6 steps from 50.71 to 51.12 ms".
[[nodiscard]] std::string inspect_headline(const Inspection& found);

/// The trace, as a row.
[[nodiscard]] Section trace_section(const Recording& recording);
/// How close the replay is, as a row.
[[nodiscard]] Section replay_section(const Replay& replay);
/// "recording began with GPU work already queued" of the flag "initial backlog".
[[nodiscard]] std::string warning_text(std::string_view flag);
/// What tensors are based on, and warnings, as rows.
[[nodiscard]] Section flags_section(const trace::BuiltGraph& built);

namespace sections {
/// "host work, data loading": one reason of a comparison.
[[nodiscard]] std::string reason_name(const Compared& reason);
/// What changed in it: in which precision, how many, how long each; of what has no operations the
/// part that changed most.
[[nodiscard]] std::string what_changed(const Compared& row);
}  // namespace sections

}  // namespace foretrace::report
