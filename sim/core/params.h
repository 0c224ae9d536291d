// Parameters as data: one table row per parameter; parser, help, explain and sweeps read the same.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sim/core/result.h"

namespace foretrace {

enum class ParamType : std::uint8_t {
  number,  ///< plain number ("0.5"); unit "x" for factors, "1" for counts and shares
  integer,
  time,       ///< "5 us", "1.2 ms"; stored as ns
  bytes,      ///< "64 KiB"; stored as bytes
  bandwidth,  ///< "900 GB/s"; stored as B/s
  flops,      ///< "312 TFLOP/s"; stored as FLOP/s
  text,
  selection,  ///< the selection grammar
  boolean
};

struct ParamInfo {
  std::string_view name;
  ParamType type = ParamType::number;
  std::string_view unit;          ///< shown to people: "x", "us", "GB/s", ""
  std::string_view default_text;  ///< empty: required
  std::string_view doc;           ///< one sentence
  double minimum = -1e300;        ///< inclusive, in stored units
  double maximum = 1e300;
};

/// Typed, validated values for one component, in the order of its table.
class ParamValues {
 public:
  /// `given` is "key" -> "value text". Errors name the component, the key and the nearest valid
  /// one.
  [[nodiscard]] static Result<ParamValues> parse(
      std::string_view component, std::span<const ParamInfo> table,
      std::span<const std::pair<std::string, std::string>> given);

  [[nodiscard]] double number(std::string_view name) const;
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] const std::string& text(std::string_view name) const;
  [[nodiscard]] bool boolean(std::string_view name) const;
  /// True if the user gave it (false: the default stands).
  [[nodiscard]] bool given(std::string_view name) const;
  /// Name and text of every value, defaults included, in table order.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> texts() const;

 private:
  struct Value {
    std::string name;
    ParamType type = ParamType::number;
    std::string text;
    double number = 0;
    bool given = false;
  };
  [[nodiscard]] const Value& at(std::string_view name) const;
  std::vector<Value> values_;
};

/// "5 us" -> 5000 (ns), "80 GiB" -> bytes, "900 GB/s", "312 TFLOP/s", "0.5". A bare number for a
/// dimensioned type is an error that says which units are known.
[[nodiscard]] Result<double> parse_quantity(std::string_view text, ParamType type);

/// The names closest to a misspelt one: " (did you mean 'x'?)" or "" if nothing is near.
[[nodiscard]] std::string did_you_mean(std::string_view wrong,
                                       std::span<const std::string_view> valid);

}  // namespace foretrace
