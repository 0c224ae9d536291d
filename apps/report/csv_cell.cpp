#include "apps/report/csv_cell.h"

#include <charconv>
#include <system_error>

namespace foretrace::report {
namespace {

bool is_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string cell = "\"";
  for (const char c : text) {
    cell += c;
    if (c == '"') cell += c;
  }
  return cell + '"';
}

std::string csv_name(std::string_view text) {
  constexpr std::string_view formula_starts = "=+-@\t\r\n";
  const bool may_run =
      text.size() > 1 && formula_starts.find(text.front()) != std::string_view::npos;
  if (!may_run || is_number(text)) return csv_cell(text);
  return csv_cell("'" + std::string(text));
}

}  // namespace foretrace::report
