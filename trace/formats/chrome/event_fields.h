// One trace event as written: raw parts, and the arguments that every kind of event may carry.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

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

/// Views point into the text that was scanned.
struct EventFields {
  std::string_view text;       ///< the whole object
  std::string_view arguments;  ///< "{...}"; empty: none
  RawString name;
  std::array<Number, number_field_count> numbers;
  /// Hash of every argument that describes the work (no ids, no totals); 0: there is none.
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
    name = {};
    arguments_hash = 0;
    category = Category::other;
    phase = '\0';
    has_name = false;
  }
};

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

}  // namespace foretrace::trace::formats
