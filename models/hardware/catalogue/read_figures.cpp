#include "models/hardware/catalogue/read_figures.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/core/params.h"

namespace foretrace {
std::size_t read_word(ConfigFields& fields, std::string_view key,
                      std::span<const std::string_view> words) {
  std::string text;
  fields.text(key, text);
  const auto at = std::find(words.begin(), words.end(), text);
  if (at != words.end()) return static_cast<std::size_t>(at - words.begin());
  if (!text.empty()) {
    fields.mistake(key, fmt::format("got {}{}, expected one of {}", in_quotes(text),
                                    did_you_mean(text, words), fmt::join(words, ", ")));
  }
  return 0;
}

std::size_t optional_word(ConfigFields& fields, std::string_view key,
                          std::span<const std::string_view> words, std::size_t standard) {
  if (fields.has(key)) return read_word(fields, key, words);
  std::string unused;
  fields.optional_text(key, unused);
  return standard;
}

std::uint32_t read_count(ConfigFields& fields, std::string_view key, double most) {
  double value = 1;
  fields.quantity(key, ParamType::integer, value);
  if (value >= 1 && value <= most) return static_cast<std::uint32_t>(value);
  fields.mistake(key, fmt::format("got {:g}, expected a whole number from 1 to {:g}", value, most));
  return 1;
}

std::uint32_t optional_count(ConfigFields& fields, std::string_view key, double most,
                             std::uint32_t standard) {
  if (fields.has(key)) return read_count(fields, key, most);
  double unused = 0;
  fields.optional_quantity(key, ParamType::integer, unused);
  return standard;
}

double read_within(ConfigFields& fields, std::string_view key, ParamType type, double most) {
  double value = 0;
  fields.quantity(key, type, value);
  if (value >= 0 && value <= most) return value;
  fields.mistake(key, fmt::format("got {}, expected a value from 0 to {}",
                                  quantity_text(value, type), quantity_text(most, type)));
  return 0;
}

double optional_within(ConfigFields& fields, std::string_view key, ParamType type, double most,
                       double standard) {
  if (fields.has(key)) return read_within(fields, key, type, most);
  double unused = 0;
  fields.optional_quantity(key, type, unused);
  return standard;
}

double read_positive(ConfigFields& fields, std::string_view key, ParamType type, double most) {
  const double value = read_within(fields, key, type, most);
  if (value > 0) return value;
  fields.mistake(key, fmt::format("got {}, expected more than 0", quantity_text(value, type)));
  return 1;
}

void read_ranged(ConfigFields& fields, std::string_view key, Ranged& out) {
  read_ranged(fields, key, ParamType::number, out);
}

void read_ranged(ConfigFields& fields, std::string_view key, ParamType type, Ranged& out) {
  const ConfigValue* object = fields.optional_object(key);
  if (object == nullptr) return;
  ConfigFields inner(*object, fields.file(), fields.pointer_of(key));
  Ranged value;
  inner.quantity("typical", type, value.typical);
  inner.quantity("low", type, value.low);
  inner.quantity("high", type, value.high);
  fields.take(inner.finish());
  if (value.low >= 0 && value.low <= value.typical && value.typical <= value.high &&
      value.high <= 1e12) {
    out = value;
    return;
  }
  fields.mistake(key,
                 fmt::format("got low {}, typical {}, high {}, expected "
                             "0 <= low <= typical <= high",
                             quantity_text(value.low, type), quantity_text(value.typical, type),
                             quantity_text(value.high, type)));
}

}  // namespace foretrace
