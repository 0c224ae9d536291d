// Typography of the program: numbers with their units, columns and paragraphs that fit the page.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace foretrace::report {

/// How wide a page is where nothing says otherwise.
inline constexpr std::size_t page_width = 100;

/// How a page of text looks.
struct TextStyle {
  std::size_t width = page_width;  ///< no line is wider, but for words that cannot be cut
  bool colour = false;             ///< bold and colour, for a terminal that wants them
  bool details = false;            ///< everything, not only what fits a screen

  [[nodiscard]] std::string strong(std::string_view text) const;
  /// A time or a size against the one before: less is green, more is red.
  [[nodiscard]] std::string change(std::string_view text) const;
  /// What deserves a second look.
  [[nodiscard]] std::string warning(std::string_view text) const;
};

/// A time with its unit; decimals follow `scale_ns`, so that the times of one page line up:
/// "176.3 ms" beside 176 ms, "4.426 ms" beside 4 ms, "91.3 us" beside less than 1 ms, "2.137 s"
/// beside 2 s. What would be shown as 0 there has a unit of its own: "40.0 us" beside 176 ms.
[[nodiscard]] std::string time_text(std::int64_t ns, std::int64_t scale_ns);
[[nodiscard]] std::string time_text(std::int64_t ns);
/// Two values side by side, with as many decimals as tell them apart: "13.01" and "13.04 GiB".
struct Ends {
  std::string low;
  std::string high;
};
[[nodiscard]] Ends time_ends(std::int64_t low_ns, std::int64_t high_ns, std::int64_t scale_ns);
[[nodiscard]] Ends bytes_ends(std::int64_t low, std::int64_t high);
/// 0.123 -> "12.3 %".
[[nodiscard]] std::string percent_text(double share);
/// -0.0021 -> "-0.21 %", 0.084 -> "+8.4 %": two decimals below one percent.
[[nodiscard]] std::string signed_percent_text(double share);
/// 75718 -> "75,718".
[[nodiscard]] std::string count_text(std::uint64_t count);
/// What happens per second: 75718.3 -> "75,718", and three digits below 1,000: "41.7", "0.0412".
[[nodiscard]] std::string rate_text(double per_second);
/// The same with so many decimals from 10 on: "75718.3".
[[nodiscard]] std::string rate_text(double per_second, int decimals);
/// "1 step", "6 steps", "2 entries".
[[nodiscard]] std::string plural(std::uint64_t count, std::string_view word);
/// 34079637504 -> "31.7 GiB".
[[nodiscard]] std::string bytes_text(std::int64_t bytes);
/// "+1.2 GiB", "-512 B", "same".
[[nodiscard]] std::string signed_bytes_text(std::int64_t bytes);
/// "21.5 .. 24.9 GiB", "812.0 MiB .. 1.2 GiB".
[[nodiscard]] std::string bytes_range_text(std::int64_t low, std::int64_t high);
/// "33.1 .. 38.2 ms"
[[nodiscard]] std::string time_range_text(std::int64_t low_ns, std::int64_t high_ns,
                                          std::int64_t scale_ns);
/// 0.667 -> "0.67x", 1.52 -> "1.52x".
[[nodiscard]] std::string factor_text(double factor);
/// "data_loading" -> "data loading": names of ours are for documents, too.
[[nodiscard]] std::string in_words(std::string_view name);
/// "step time" of "step_ns": names carry their unit, texts have it beside the figure.
[[nodiscard]] std::string quantity_in_words(std::string_view name);
/// Characters on the terminal, as far as one code point is one column.
[[nodiscard]] std::size_t width_of(std::string_view text);
/// At most `width` characters, the middle left out if it must be; control characters shown as '?'.
[[nodiscard]] std::string shorten(std::string_view text, std::size_t width);
/// The name of a device function without what every one of them has: return type, argument list,
/// framework namespaces.
[[nodiscard]] std::string function_text(std::string_view name);
/// A paragraph whose first line starts with `first` and the others with as many spaces.
[[nodiscard]] std::string paragraph(std::string_view first, std::string_view text,
                                    std::size_t width = page_width);

/// Its lines, without their ends; they are safe to print.
[[nodiscard]] std::vector<std::string> lines_of(std::string_view text);

/// Control and hidden characters shown as '?', so that no name from a trace can command a terminal.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace foretrace::report
