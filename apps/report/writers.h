// One writer per format: pages of sections as text, JSON, Markdown and CSV.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "apps/report/section.h"
#include "apps/report/text.h"
#include "sim/core/result.h"

namespace foretrace::report {

/// What a person reads: the answer first, then facts in rows and tables in columns.
[[nodiscard]] std::string text_of(const Page& page, const TextStyle& style = {});
/// One indented document with a line end; bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string json_of(const Page& page);
/// Every table with all of its columns.
[[nodiscard]] std::string markdown_of(const Page& page);
/// One table: the main one if `name` is empty. The error names those that there are.
[[nodiscard]] Result<std::string> csv_of(const Page& page, std::string_view name = {});

}  // namespace foretrace::report
