#include "apps/report/value.h"

#include <cmath>

#include <fmt/format.h>

#include "apps/report/text.h"
#include "sim/core/result.h"
#include "sim/core/whole.h"

namespace foretrace::report {
namespace {

// What nothing can be reached this place by a mistake of ours: the program says so and ends, as for
// every broken invariant. "Not known" would be a wrong answer.
Value figure(Unit unit, double number, bool is_possible) {
  FORETRACE_CHECK(is_possible);
  return {unit, number};
}

Value figure(Unit unit, std::int64_t whole) {
  FORETRACE_CHECK(whole > -most_whole && whole < most_whole);
  return {unit, whole};
}

std::string joined(const Value::List& values, std::int64_t scale_ns) {
  std::string text;
  for (const Value& value : values) {
    text += (text.empty() ? "" : ", ") + shown_text(value, scale_ns);
  }
  return text;
}

std::string joined(const Value::Numbers& numbers) {
  std::string text;
  for (const std::int64_t number : numbers) {
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  }
  return text;
}

std::string joined(const Value::Object& members, std::int64_t scale_ns) {
  std::string text;
  for (const Member& member : members) {
    text += (text.empty() ? "" : ", ") + member.key + " " + shown_text(member.value, scale_ns);
  }
  return text;
}

std::int64_t integer(const Value& value) {
  const auto* const held = std::get_if<std::int64_t>(&value.held);
  return held == nullptr ? 0 : *held;
}

double real(const Value& value) {
  const auto* const held = std::get_if<double>(&value.held);
  return held == nullptr ? static_cast<double>(integer(value)) : *held;
}

std::string plain_text(const Value& value) {
  return std::holds_alternative<double>(value.held) ? fmt::format("{:.4g}", real(value))
                                                    : std::to_string(integer(value));
}

}  // namespace

Value Value::as(std::string text) const {
  Value value = *this;
  value.shown = std::move(text);
  return value;
}

Value Value::from(std::string pointers) const {
  Value value = *this;
  value.source = std::move(pointers);
  return value;
}

Value Value::none(std::string text) { return {Unit::none, {}, std::move(text)}; }
Value Value::words(std::string_view text) { return {Unit::words, std::string(text)}; }
Value Value::known_words(std::string_view text) { return text.empty() ? none() : words(text); }
Value Value::flag(bool value) { return {Unit::flag, value}; }
Value Value::time(std::int64_t ns) { return figure(Unit::time, ns); }
Value Value::known_time(std::int64_t ns) { return ns < 0 ? none() : time(ns); }
Value Value::time(const std::optional<std::int64_t>& ns) { return ns ? time(*ns) : none(); }
Value Value::bytes(std::int64_t bytes) { return figure(Unit::bytes, bytes); }
Value Value::known_bytes(std::int64_t bytes) { return bytes < 0 ? none() : Value::bytes(bytes); }
Value Value::bytes_change(std::int64_t bytes) { return figure(Unit::bytes_change, bytes); }
Value Value::count(std::uint64_t count) { return {Unit::count, static_cast<std::int64_t>(count)}; }
Value Value::plain(double number) { return figure(Unit::plain, number, std::isfinite(number)); }
Value Value::known(std::int64_t number) { return number < 0 ? none() : plain(number); }
Value Value::share(double share) { return figure(Unit::share, share, std::isfinite(share)); }
Value Value::part(double share) {
  constexpr double rounding = 1e-9;
  return figure(Unit::share, share, share >= -rounding && share <= 1 + rounding);
}
Value Value::change(double change) { return figure(Unit::change, change, std::isfinite(change)); }
Value Value::factor(double factor) { return figure(Unit::factor, factor, std::isfinite(factor)); }
Value Value::bandwidth(double bytes_per_second) {
  return bytes_per_second < 0
             ? none()
             : figure(Unit::bandwidth, bytes_per_second, std::isfinite(bytes_per_second));
}
Value Value::numbers(Numbers numbers) { return {Unit::list, std::move(numbers)}; }
Value Value::list(List values) { return {Unit::list, std::move(values)}; }
Value Value::object(Object members) { return {Unit::object, std::move(members)}; }

std::string shown_text(const Value& value, std::int64_t scale_ns) {
  if (!value.shown.empty()) {
    return value.shown;
  }
  const std::int64_t whole = integer(value);
  switch (value.unit) {
    case Unit::none: return "";
    case Unit::words: return std::get<std::string>(value.held);
    case Unit::flag: return std::get<bool>(value.held) ? "yes" : "no";
    case Unit::time: return time_text(whole, scale_ns == 0 ? whole : scale_ns);
    case Unit::bytes: return bytes_text(whole);
    case Unit::bytes_change: return signed_bytes_text(whole);
    case Unit::count: return count_text(static_cast<std::uint64_t>(whole));
    case Unit::plain: return plain_text(value);
    case Unit::share: return percent_text(real(value));
    case Unit::change: return signed_percent_text(real(value));
    case Unit::factor: return factor_text(real(value));
    case Unit::bandwidth: return fmt::format("{:.1f} GB/s", real(value) / 1e9);
    case Unit::list: {
      const auto* const numbers = std::get_if<Value::Numbers>(&value.held);
      return numbers != nullptr ? joined(*numbers)
                                : joined(std::get<Value::List>(value.held), scale_ns);
    }
    case Unit::object: return joined(std::get<Value::Object>(value.held), scale_ns);
  }
  return "";
}

bool is_figure(const Value& value) {
  return value.unit != Unit::words && value.unit != Unit::flag && value.unit != Unit::list &&
         value.unit != Unit::object && value.unit != Unit::none;
}

}  // namespace foretrace::report
