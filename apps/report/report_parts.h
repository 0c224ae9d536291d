// Parts that several pages share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/driver/analysis.h"
#include "apps/driver/load.h"
#include "apps/driver/predict.h"
#include "apps/report/text.h"
#include "trace/assemble/build_graph.h"

namespace foretrace::app {

inline constexpr auto left = Table::Align::left;
inline constexpr auto right = Table::Align::right;

/// part / whole; 0 if there is no whole.
[[nodiscard]] double share_of(std::int64_t part, std::int64_t whole);
/// "+12.3 %": what becomes of `before`.
[[nodiscard]] std::string change_text(std::int64_t after, std::int64_t before);
/// "  title     text", continued below the text.
[[nodiscard]] std::string row(std::string_view title, std::string_view text);

/// "name.json.gz, 75,718 events, NVIDIA A100".
[[nodiscard]] std::string trace_text(const driver::Recording& recording);
/// "19,817 tasks, 40,123 dependencies".
[[nodiscard]] std::string graph_text(const TaskGraph& graph);
/// Parts of a step that are not empty: title and time.
struct BreakdownPart {
  std::string_view title;
  std::int64_t time_ns = 0;
};
inline constexpr std::string_view title_of_waiting = "waiting for late ranks";
[[nodiscard]] std::vector<BreakdownPart> parts_of(const Breakdown& breakdown);
/// "measured 84.1 %, scaled 15.9 %".
[[nodiscard]] std::string provenance_text(const driver::Analysis& analysis);
/// Peaks of device memory, one row per device.
[[nodiscard]] std::string memory_rows(const driver::Analysis& analysis);
/// What the tensors rest on, where no allocations were recorded; else nothing.
[[nodiscard]] std::string tensors_row(const trace::BuiltGraph& built);
/// "+1.2 GiB", "-512 B", "same".
[[nodiscard]] std::string signed_bytes_text(std::int64_t bytes);
/// One row per flag.
[[nodiscard]] std::string flag_rows(const trace::Honesty& honesty);
/// An answer whose first line says that it is doubtful, where it is: a page adds the reasons below,
/// a first line alone the first reason.
[[nodiscard]] std::string with_doubt(std::string answer, const driver::Replay& replay);
/// What the graph does not explain and what it rests on.
[[nodiscard]] std::string honesty_table(const trace::Honesty& honesty);
/// Spans with the device or the host at other speeds, beside what the events say.
[[nodiscard]] std::string reactions_table(const trace::Honesty& honesty,
                                          const driver::Reactions& reactions);

}  // namespace foretrace::app
