// Answers of commands in the form that was asked for.
#pragma once

#include "apps/cli/output/console.h"
#include "apps/report/section.h"
#include "apps/report/text.h"

namespace foretrace::app {

/// The page as a document, a table, its first line or text.
[[nodiscard]] int answer(const report::Page& page, const CommonOptions& options,
                         ExitCode code = exit_done);

/// How text looks on this terminal, or where it goes instead.
[[nodiscard]] report::TextStyle text_style(const CommonOptions& options = {});

}  // namespace foretrace::app
