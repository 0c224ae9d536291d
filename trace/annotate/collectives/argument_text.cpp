#include "trace/annotate/collectives/argument_text.h"

#include <charconv>
#include <limits>

#include "sim/core/text.h"

namespace foretrace::trace {
namespace {

constexpr std::string_view blanks = " \t\r\n";

/// Length of the value at the front: up to the comma, colon or bracket that ends it.
std::size_t value_length(std::string_view text) {
  std::int64_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      i += c == '\\' ? 1 : 0;
      in_string = c != '"';
      continue;
    }
    if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      if (--depth < 0) return i;
    } else if (depth == 0 && (c == ',' || c == ':')) {
      return i;
    }
  }
  return text.size();
}

/// Takes the value and the one character behind it off the front.
std::string_view take_value(std::string_view& text) {
  const std::size_t length = value_length(text);
  const std::string_view value = trimmed(text.substr(0, length));
  text.remove_prefix(length < text.size() ? length + 1 : text.size());
  return value;
}

std::int64_t product_of(std::string_view dims) {
  std::int64_t product = 1;
  bool any = false;
  visit_elements(dims, [&](std::string_view extent) {
    const std::int64_t value = integer_of(extent).value_or(-1);
    any = true;
    const bool fits = value == 0 || (product >= 0 && value > 0 &&
                                     product <= std::numeric_limits<std::int64_t>::max() / value);
    product = fits && product >= 0 ? product * value : -1;
  });
  return any ? product : -1;
}

}  // namespace

void visit_members(std::string_view object,
                   const std::function<void(std::string_view, std::string_view)>& visit) {
  object = trimmed(object);
  if (object.empty() || object.front() != '{') return;
  object.remove_prefix(1);
  while (!object.empty() && object.front() != '}') {
    const std::string_view key = take_value(object);
    const std::string_view value = take_value(object);
    if (key.size() < 2 || key.front() != '"' || value.empty()) return;
    visit(unquoted(key), value);
    object = trimmed(object);
  }
}

void visit_elements(std::string_view array, const std::function<void(std::string_view)>& visit) {
  array = trimmed(unquoted(trimmed(array)));
  if (array.empty() || array.front() != '[') return;
  array.remove_prefix(1);
  while (!array.empty()) {
    const std::string_view value = take_value(array);
    if (value.empty()) return;
    visit(value);
  }
}

std::string_view unquoted(std::string_view value) {
  return value.size() >= 2 && value.front() == '"' && value.back() == '"'
             ? value.substr(1, value.size() - 2)
             : value;
}

std::optional<std::int64_t> integer_of(std::string_view value) {
  value = trimmed(unquoted(trimmed(value)));
  std::int64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  return error == std::errc() && stop == end && !value.empty() ? std::optional(number)
                                                               : std::nullopt;
}

std::optional<std::vector<std::int32_t>> integers_of(std::string_view list) {
  const std::string_view text = trimmed(unquoted(trimmed(list)));
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  std::vector<std::int32_t> numbers;
  bool whole = true;
  visit_elements(text, [&](std::string_view value) {
    const std::optional<std::int64_t> number = integer_of(value);
    whole = whole && number && *number >= 0 && *number <= std::numeric_limits<std::int32_t>::max();
    numbers.push_back(whole ? static_cast<std::int32_t>(*number) : -1);
  });
  return whole ? std::optional(std::move(numbers)) : std::nullopt;
}

std::int64_t elements_of_dims(std::string_view dims) {
  const std::string_view text = trimmed(dims);
  if (text.size() < 2 || text[0] != '[') return -1;
  if (trimmed(text.substr(1)).front() != '[') return product_of(text);
  std::int64_t sum = 0;
  visit_elements(text, [&](std::string_view tensor) {
    const std::int64_t elements = product_of(tensor);
    const bool fits =
        sum >= 0 && elements >= 0 && elements <= std::numeric_limits<std::int64_t>::max() - sum;
    sum = fits ? sum + elements : -1;
  });
  return sum;
}

}  // namespace foretrace::trace
