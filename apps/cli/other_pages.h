// Pages of what is no recording: a scenario, the results of a sweep, a file of a kind of its own.
#pragma once

#include <string>

#include "apps/cli/output/console.h"
#include "apps/explorer/page.h"
#include "apps/extras/file_kinds.h"
#include "sim/core/result.h"

namespace foretrace::app {

[[nodiscard]] Result<explorer::Page> scenario_page(const std::string& path,
                                                   const std::string& version,
                                                   const CommonOptions& common);
/// `folder`: what `sweep -o` wrote.
[[nodiscard]] Result<explorer::Page> sweep_page(const std::string& folder,
                                                const std::string& version);

/// Reads the file, runs it and prints what came out.
[[nodiscard]] Exit answer_file(const FileKind& kind, const std::string& path,
                               const CommonOptions& common);

}  // namespace foretrace::app
