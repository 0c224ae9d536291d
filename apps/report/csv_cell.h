// Cells of CSV, for every file of it that we write.
#pragma once

#include <string>
#include <string_view>

namespace foretrace::report {

/// A figure, or a word of ours: in quotes where it must be (RFC 4180).
[[nodiscard]] std::string csv_cell(std::string_view text);

/// A text from elsewhere, such as the name of a kernel. What a spreadsheet would run as a formula
/// (it begins with = + - @, a tab or a line end, and is no number) gets an apostrophe in front.
[[nodiscard]] std::string csv_name(std::string_view text);

}  // namespace foretrace::report
