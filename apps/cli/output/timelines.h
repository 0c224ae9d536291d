// Timelines that commands write for trace viewers.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "apps/cli/arguments/arguments.h"
#include "apps/questions/memory/memory_budget.h"
#include "apps/session/session.h"
#include "sim/core/result.h"
#include "sim/result/export/chrome_trace.h"

namespace foretrace::app {

/// --timeline FILE.
void add_timeline(Arguments& arguments, std::string& path);

/// Writes a Perfetto-loadable file; nothing if `path` is empty.
[[nodiscard]] Status write_timeline(const std::string& path,
                                    std::span<const ChromeTraceView> views);
/// The same of a run as it was recorded, and beside it with what-ifs where `answer` is not null.
[[nodiscard]] Status write_timeline(const std::string& path, const Session& session,
                                    const Answer* answer = nullptr);

/// A run within a memory budget, and what it is called; the label may be empty.
struct BudgetView {
  std::string_view label;
  const BudgetAnswer& answer;
};
/// For who asks for pictures of it.
inline constexpr std::string_view budget_draws_timelines =
    "--svg and --memory-svg draw a run without a memory budget; --timeline draws one with";
/// The same with what the policy did. A run that does not fit has no end and is left out with a
/// warning. False if nothing was written.
[[nodiscard]] Result<bool> write_budget_timeline(const std::string& path,
                                                 std::span<const BudgetView> views);

}  // namespace foretrace::app
