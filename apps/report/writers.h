// One writer per format: pages of sections as text, JSON, Markdown and CSV.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "apps/report/section.h"
#include "apps/report/text.h"
#include "sim/core/result.h"

namespace foretrace::report {

/// "117 x 435.3 us -> 126 x 439.6 us (-1 %)" with the signs that a page can have: one for minus,
/// times, arrows, plus or minus and micro.
[[nodiscard]] std::string with_signs(std::string_view text);
/// What a person reads: the answer first, then facts in rows and tables in columns.
[[nodiscard]] std::string text_of(const Page& page, const TextStyle& style = {});
/// One indented document with a line end; bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string json_of(const Page& page);
/// Every table with all of its columns.
[[nodiscard]] std::string markdown_of(const Page& page);
/// Cards of a web page, one per title, for a document that says how they look. All text is escaped;
/// names stand apart, so that no writing direction reaches beyond its cell.
[[nodiscard]] std::string html_of(const Page& page);
/// Text for HTML, in elements and in quoted attributes: printable, valid UTF-8, at most 400
/// characters where `most` is not given.
[[nodiscard]] std::string html_text(std::string_view text, std::size_t most = 400);
/// One table: the main one if `name` is empty. The error names those that there are.
[[nodiscard]] Result<std::string> csv_of(const Page& page, std::string_view name = {});

}  // namespace foretrace::report
