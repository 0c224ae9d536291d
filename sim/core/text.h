// Small questions about text that every part asks. Letters are those of ASCII.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

namespace foretrace {

[[nodiscard]] constexpr bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

[[nodiscard]] constexpr bool contains(std::string_view text, char part) {
  return text.find(part) != std::string_view::npos;
}

[[nodiscard]] constexpr bool contains_any(std::string_view text,
                                          std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return contains(text, part); });
}

[[nodiscard]] constexpr bool starts_with_any(std::string_view text,
                                             std::initializer_list<std::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return text.starts_with(start); });
}

[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

[[nodiscard]] constexpr char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

[[nodiscard]] inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), to_lower);
  return lower;
}

[[nodiscard]] constexpr bool contains_ignore_case(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char x, char y) { return to_lower(x) == to_lower(y); }) != text.end() ||
         part.empty();
}

/// Without blanks, tabs and line ends on both sides.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// "a, b, c" of any list of texts.
template <typename Texts>
[[nodiscard]] std::string join(const Texts& texts, std::string_view separator) {
  std::string joined;
  bool is_first = true;
  for (const auto& text : texts) {
    joined += is_first ? std::string_view() : separator;
    joined += text;
    is_first = false;
  }
  return joined;
}

/// "1 kernels of 3 passes" -> "1 kernel of 3 passes": the first plural after a lone 1, adjectives
/// between them; nothing where a preposition or a sign comes first.
[[nodiscard]] std::string with_singulars(std::string_view text);

/// A time with four digits: "12.34 ms", and "43.43 s" from 10 s on.
[[nodiscard]] std::string four_digit_time(double ns);

/// What follows the last slash.
[[nodiscard]] constexpr std::string_view file_name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // no slash: npos + 1 is 0
}

}  // namespace foretrace
