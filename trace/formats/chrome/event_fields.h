// One trace event as written: raw parts, and the arguments that every kind of event may carry.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/formats/common/event_category.h"
#include "trace/formats/json/scan.h"
#include "trace/formats/json/scan_number.h"

namespace foretrace::trace::formats {

/// What an event says with a number (which may be written as a text).
enum class NumberField : std::uint8_t {
  process,
  thread,
  time,
  duration,
  id,
  // Of the arguments:
  correlation,
  external_id,
  device,
  stream,
  sequence_number,
  forward_thread,
  record_function
};
inline constexpr std::size_t number_field_count = 12;

/// What an argument is for.
enum class ArgumentRole : std::uint8_t {
  correlation,
  external_id,
  device,
  stream,
  sequence_number,
  forward_thread,
  record_function,
  ignored,  ///< ids, totals, and what follows from other arguments
  dims,
  types,
  concrete,
  bytes,
  grid,
  block,
  registers,
  shared_memory,
  flops,
  other  ///< descriptive, kept as text
};
[[nodiscard]] ArgumentRole argument_role(std::string_view key);

/// An argument that describes the work, as written.
struct Argument {
  const char* key = nullptr;    ///< its opening quote
  const char* value = nullptr;  ///< the first byte
  const char* end = nullptr;    ///< behind the value
  ArgumentRole role = ArgumentRole::other;

  [[nodiscard]] std::string_view text() const {
    return {value, static_cast<std::size_t>(end - value)};
  }
  [[nodiscard]] std::string_view quoted_key() const {
    RawString name;
    const char* const behind = Scanner(value).string(key + 1, name);
    return {key, static_cast<std::size_t>(behind - key)};
  }
};

/// Views point into the text that was scanned.
struct EventFields {
  std::string_view text;       ///< the whole object
  std::string_view arguments;  ///< "{...}"; empty: none
  RawString name;
  std::array<Number, number_field_count> numbers;
  std::vector<Argument> described;  ///< every argument that describes the work, in order
  /// Hash of the text of `described`; 0: there is none.
  std::uint64_t arguments_hash = 0;
  Category category = Category::other;
  char phase = '\0';      ///< '\0': none; '?': not one character
  bool has_name = false;  ///< a name that is a string

  [[nodiscard]] const Number& operator[](NumberField field) const {
    return numbers[static_cast<std::size_t>(field)];
  }
  /// Absent again, all of it. Much cheaper than assigning an empty one, once per event.
  void clear() {
    for (Number& number : numbers) {
      number.clear();
    }
    text = {};
    arguments = {};
    described.clear();
    name = {};
    arguments_hash = 0;
    category = Category::other;
    phase = '\0';
    has_name = false;
  }
};

}  // namespace foretrace::trace::formats
