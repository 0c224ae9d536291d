// Quantities with units as people write them: "5 us", "80 GiB", "900 GB/s", "312 TFLOP/s".
#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/core/params.h"
#include "sim/core/text.h"

namespace foretrace {
namespace {

struct UnitRow {
  std::string_view symbol;
  double scale;  // to the stored unit: ns, B, B/s, FLOP/s
};

constexpr std::array time_units = {UnitRow{"ns", 1},  UnitRow{"us", 1e3},   UnitRow{"ms", 1e6},
                                   UnitRow{"s", 1e9}, UnitRow{"min", 60e9}, UnitRow{"h", 3600e9}};
constexpr std::array byte_units = {
    UnitRow{"B", 1},        UnitRow{"kB", 1e3},     UnitRow{"MB", 1e6},
    UnitRow{"GB", 1e9},     UnitRow{"TB", 1e12},    UnitRow{"KiB", 1024.0},
    UnitRow{"MiB", 0x1p20}, UnitRow{"GiB", 0x1p30}, UnitRow{"TiB", 0x1p40}};
constexpr std::array bandwidth_units = {UnitRow{"B/s", 1},          UnitRow{"kB/s", 1e3},
                                        UnitRow{"MB/s", 1e6},       UnitRow{"GB/s", 1e9},
                                        UnitRow{"TB/s", 1e12},      UnitRow{"KiB/s", 1024.0},
                                        UnitRow{"MiB/s", 0x1p20},   UnitRow{"GiB/s", 0x1p30},
                                        UnitRow{"Mbit/s", 1e6 / 8}, UnitRow{"Gbit/s", 1e9 / 8}};
constexpr std::array flop_units = {UnitRow{"FLOP/s", 1},     UnitRow{"MFLOP/s", 1e6},
                                   UnitRow{"GFLOP/s", 1e9},  UnitRow{"TFLOP/s", 1e12},
                                   UnitRow{"PFLOP/s", 1e15}, UnitRow{"TOP/s", 1e12},
                                   UnitRow{"POP/s", 1e15}};

std::span<const UnitRow> units_of(ParamType type) {
  switch (type) {
    case ParamType::time: return time_units;
    case ParamType::bytes: return byte_units;
    case ParamType::bandwidth: return bandwidth_units;
    case ParamType::flops: return flop_units;
    case ParamType::number:
    case ParamType::integer:
    case ParamType::text:
    case ParamType::selection:
    case ParamType::boolean: return {};
  }
  return {};
}

std::string unit_list(std::span<const UnitRow> units) {
  std::string list;
  for (const UnitRow& unit : units) {
    if (!list.empty()) list += ", ";
    list += unit.symbol;
  }
  return list;
}

Error wrong(std::string_view text, ParamType type, std::string_view detail = {}) {
  return Error{ErrorCode::bad_config,
               fmt::format("got {}{}, expected {}", in_quotes(text), detail, expectation(type))};
}

std::string unknown_unit(std::string_view unit, std::span<const UnitRow> units) {
  std::vector<std::string_view> names;
  for (const UnitRow& row : units) names.push_back(row.symbol);
  return fmt::format(" with the unknown unit {}{}", in_quotes(unit), did_you_mean(unit, names));
}

}  // namespace

std::string expectation(ParamType type) {
  switch (type) {
    case ParamType::number: return "a number such as '0.5'";
    case ParamType::integer: return "a whole number such as '4'";
    case ParamType::time:
      return fmt::format("a time such as '5 us' (units {})", unit_list(time_units));
    case ParamType::bytes:
      return fmt::format("a size such as '80 GiB' (units {})", unit_list(byte_units));
    case ParamType::bandwidth:
      return fmt::format("a bandwidth such as '900 GB/s' (units {})", unit_list(bandwidth_units));
    case ParamType::flops:
      return fmt::format("a rate such as '312 TFLOP/s' (units {})", unit_list(flop_units));
    case ParamType::text: return "a text";
    case ParamType::selection: return "a selection such as 'kind=kernel&phase=backward'";
    case ParamType::boolean: return "'true' or 'false'";
  }
  return "a value";
}

Result<double> parse_quantity(std::string_view text, ParamType type) {
  const std::string_view body = trimmed(text);
  double number = 0;
  const char* const end = body.data() + body.size();
  const auto [rest, error] = std::from_chars(body.data(), end, number);
  if (error == std::errc::result_out_of_range) return wrong(text, type, " (beyond a double)");
  if (error != std::errc() || !std::isfinite(number)) return wrong(text, type);

  const auto units = units_of(type);
  const std::string_view unit = trimmed({rest, static_cast<std::size_t>(end - rest)});
  if (units.empty()) {
    if (!unit.empty()) return wrong(text, type);
    if (type == ParamType::integer && (std::trunc(number) != number || std::abs(number) > 0x1p53)) {
      return wrong(text, type);
    }
    return number;
  }
  if (unit.empty()) return wrong(text, type, " without a unit");
  for (const UnitRow& row : units) {
    if (row.symbol != unit) continue;
    const double stored = number * row.scale;
    if (!std::isfinite(stored)) return wrong(text, type, " (beyond a double)");
    return stored;
  }
  return wrong(text, type, unknown_unit(unit, units));
}

std::string quantity_text(double stored, ParamType type) {
  std::string shortest = fmt::format("{:g}", stored);
  std::string_view unit;
  for (const UnitRow& row : units_of(type)) {
    std::string number = fmt::format("{:g}", stored / row.scale);
    if (!unit.empty() && number.size() >= shortest.size()) continue;
    shortest = std::move(number);
    unit = row.symbol;
  }
  return unit.empty() ? shortest : fmt::format("{} {}", shortest, unit);
}

}  // namespace foretrace
