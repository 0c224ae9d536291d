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
  std::string_view name = {};
  ParamType type = ParamType::number;
  std::string_view unit = {};          ///< shown to people: "x", "us", "GB/s", ""
  std::string_view default_text = {};  ///< empty: required
  std::string_view doc = {};           ///< one sentence
  double minimum = -1e300;             ///< inclusive, in stored units
  double maximum = 1e300;
  std::string_view choices = {};  ///< text: the allowed words, "autocast|full"; empty: any text
  std::string_view config = {};   ///< text: the folder of configs that it names a file of; a path
                                  ///< works too
  /// Declared range of the default: the end that makes the predicted run faster, and the slower
  /// one. Empty: no uncertainty is claimed for it. A value that the user gives has no range.
  std::string_view optimistic = {};
  std::string_view pessimistic = {};
};

/// Which end of the declared ranges to take.
enum class Bound : std::uint8_t { point, optimistic, pessimistic };

/// Typed, validated values for one component, in the order of its table.
class ParamValues {
 public:
  /// `given` is "key" -> "value text". Errors name the component, the key and the nearest valid
  /// one.
  [[nodiscard]] static Result<ParamValues> parse(
      std::string_view component, std::span<const ParamInfo> table,
      std::span<const std::pair<std::string, std::string>> given);

  /// The value of a row of the table: the constant that the table is made of, so that a name is
  /// written once. A row of another table, or of another type, is a broken invariant.
  [[nodiscard]] double number(const ParamInfo& row) const;
  [[nodiscard]] std::int64_t integer(const ParamInfo& row) const;
  [[nodiscard]] const std::string& text(const ParamInfo& row) const;
  [[nodiscard]] bool boolean(const ParamInfo& row) const;
  /// True if the user gave it (false: the default stands).
  [[nodiscard]] bool given(const ParamInfo& row) const;
  /// Name and text of every value, defaults included, in table order.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> texts() const;

  /// The same values with every default that has a declared range moved to this end of it.
  [[nodiscard]] ParamValues at_bound(Bound bound) const;
  /// True if at_bound() changes anything.
  [[nodiscard]] bool has_range() const;

 private:
  struct Reading {
    std::string text;
    double number = 0;
  };
  struct Value {
    std::string name;
    ParamType type = ParamType::number;
    Reading reading;
    Reading optimistic;
    Reading pessimistic;
    bool given = false;
  };
  struct Reader;
  [[nodiscard]] const Value& at(const ParamInfo& row) const;
  std::vector<Value> values_;
};

/// "5 us" -> 5000 (ns), "80 GiB" -> bytes, "900 GB/s", "312 TFLOP/s", "0.5". A bare number for a
/// dimensioned type is an error that says which units are known. GB is 10^9 bytes, GiB is 2^30.
[[nodiscard]] Result<double> parse_quantity(std::string_view text, ParamType type);

/// A stored value with the unit that makes its number shortest: 2e10 of a time -> "20 s"; numbers
/// as they are.
[[nodiscard]] std::string quantity_text(double stored, ParamType type);

/// What a value of this type looks like: "a time such as '5 us' (units ns, us, ms, s)".
[[nodiscard]] std::string expectation(ParamType type);

/// Text from outside for an error message: in quotes, shortened, control bytes escaped.
[[nodiscard]] std::string in_quotes(std::string_view text);

/// The names closest to a misspelt one: " (did you mean 'x'?)" or "" if nothing is near.
[[nodiscard]] std::string did_you_mean(std::string_view wrong,
                                       std::span<const std::string_view> valid);

}  // namespace foretrace
