#include "tests/validation/studies/score.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/params.h"

namespace foretrace::scheduling {

void TruthScore::add(const TruthTable& table, std::size_t row, const std::string& column,
                     double predicted) {
  const TruthRow cells = table.row(row);
  if (cells.find(column) == nullptr) return;
  const auto measured = measured_in(cells, column);
  if (measured.ok()) {
    points.push_back({row, column, predicted, *measured});
  } else {
    skipped.push_back({row, column, measured.error().message});
  }
}

Status needs(const TruthTable& table, std::initializer_list<std::string_view> columns) {
  for (const std::string_view column : columns) {
    if (std::find(table.columns.begin(), table.columns.end(), column) != table.columns.end()) {
      continue;
    }
    return Error{ErrorCode::bad_format,
                 fmt::format("{}: /columns: no column '{}', got {}", table.path, column,
                             fmt::join(table.columns, ", "))};
  }
  return ok_status();
}

Status read_rows(const TruthTable& table,
                 const std::function<void(std::size_t, RowNumbers&)>& read) {
  for (std::size_t row = 0; row < table.size(); ++row) {
    RowNumbers numbers(table.row(row));
    read(row, numbers);
    if (numbers.status().ok()) continue;
    return Error{ErrorCode::bad_format,
                 fmt::format("{}: /rows/{}/{}", table.path, row, numbers.status().error().message)};
  }
  return ok_status();
}

std::optional<std::int64_t> first_number(std::string_view text) {
  const std::size_t at = text.find_first_of("0123456789");
  if (at == std::string_view::npos) return std::nullopt;
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data() + at, text.data() + text.size(), number);
  if (read.ec != std::errc{}) return std::nullopt;
  return number;
}

Result<std::int64_t> first_number_of(const TruthTable& table, std::string_view key, double high) {
  const std::string text = table.fixed_row().text(key);
  const auto number = first_number(text);
  if (number && *number >= 1 && static_cast<double>(*number) <= high) return *number;
  return Error{ErrorCode::bad_format,
               fmt::format("{}: /fixed/{}: got {}, expected a number from 1 to {}", table.path, key,
                           in_quotes(text), high)};
}

}  // namespace foretrace::scheduling
