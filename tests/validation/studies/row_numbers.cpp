#include "tests/validation/studies/row_numbers.h"

#include <cmath>

#include <fmt/format.h>

#include "sim/core/params.h"

namespace foretrace {
namespace {

/// The smallest number that is still told from nothing.
constexpr double least_measured = 1e-12;

struct Allowed {
  double low = 0;
  double high = 0;
  bool is_whole = false;
};

std::string expected(const Allowed& allowed) {
  if (allowed.low == least_measured) return "a positive number";
  return fmt::format("a {} from {} to {}", allowed.is_whole ? "whole number" : "number",
                     allowed.low, allowed.high);
}

Result<double> checked(const ConfigValue* value, std::string_view at, const Allowed& allowed) {
  const auto number = number_of(value);
  if (number.has_value() && *number >= allowed.low && *number <= allowed.high &&
      (!allowed.is_whole || *number == std::floor(*number))) {
    return *number;
  }
  return Error{
      ErrorCode::bad_format,
      fmt::format("{}: {}, expected {}", at, value == nullptr ? "got nothing" : value->described(),
                  expected(allowed))};
}

}  // namespace

Result<double> count_in(const TruthRow& row, std::string_view column, double low, double high) {
  return checked(row.find(column), column, {low, high, true});
}

Result<double> number_in(const TruthRow& row, std::string_view column, double low, double high) {
  return checked(row.find(column), column, {low, high, false});
}

Result<double> measured_in(const TruthRow& row, std::string_view column) {
  return number_in(row, column, least_measured, most_measured);
}

double RowNumbers::taken(Result<double> number, double low) {
  if (number.ok()) return *number;
  if (status_.ok()) status_ = std::move(number).error();
  return low;
}

double RowNumbers::count(std::string_view column, double high, double low) {
  return taken(count_in(row_, column, low, high), low);
}

double RowNumbers::count_or(std::string_view column, double standard, double high, double low) {
  return row_.find(column) == nullptr ? standard : count(column, high, low);
}

double RowNumbers::number(std::string_view column, double low, double high) {
  return taken(number_in(row_, column, low, high), low);
}

double RowNumbers::number_or(std::string_view column, double standard, double low, double high) {
  return row_.find(column) == nullptr ? standard : number(column, low, high);
}

double RowNumbers::measured(std::string_view column) {
  return taken(measured_in(row_, column), least_measured);
}

std::vector<double> RowNumbers::list(std::string_view column, double low, double high) {
  std::vector<double> numbers;
  const ConfigValue* const value = row_.find(column);
  if (value == nullptr || value->kind != ConfigValue::Kind::list) {
    static_cast<void>(
        taken(Error{ErrorCode::bad_format,
                    fmt::format("{}: {}, expected a list of numbers", column,
                                value == nullptr ? "got nothing" : value->described())},
              low));
    return numbers;
  }
  for (std::size_t i = 0; i < value->items.size(); ++i) {
    numbers.push_back(
        taken(checked(&value->items[i], fmt::format("{}/{}", column, i), {low, high, false}), low));
  }
  return numbers;
}

std::optional<double> RowNumbers::optional_measured(std::string_view column) {
  if (row_.find(column) == nullptr) return std::nullopt;
  return measured(column);
}

}  // namespace foretrace
