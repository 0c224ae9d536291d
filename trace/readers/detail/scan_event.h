// One trace event from its JSON text: the raw parts, and the arguments that every kind may carry.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/readers/detail/scan.h"

namespace foretrace::trace::detail {

/// Raw tokens of the arguments; empty: absent.
struct EventArguments {
  std::string_view correlation;
  std::string_view external_id;
  std::string_view device;
  std::string_view stream;
  std::string_view sequence_number;
  std::string_view forward_thread;
  /// Of every argument that describes the work (no ids, no totals); 0: there is none.
  std::uint64_t hash = 0;
};

/// An event as written. Views point into the text that was scanned.
struct EventFields {
  std::string_view text;
  RawString name;
  RawString category;
  char phase = '\0';      ///< '\0': none; '?': not one character
  bool has_name = false;  ///< a name that is a string
  std::string_view process;
  std::string_view thread;
  std::string_view time;
  std::string_view duration;
  std::string_view id;
  std::string_view arguments;  ///< "{...}"
  EventArguments known;
};

enum class ScanOutcome : std::uint8_t { event, more_needed, unexpected };

/// Reads the object that starts at `at` (which moves behind it) in the text that ends at `end`;
/// scan_padding bytes behind `end` must be readable. "unexpected" means that a full JSON parser has
/// to look at it.
[[nodiscard]] ScanOutcome scan_event(const char*& at, const char* end, EventFields& out);

/// What an argument is for.
enum class ArgumentRole : std::uint8_t {
  correlation,
  external_id,
  device,
  stream,
  sequence_number,
  forward_thread,
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
[[nodiscard]] constexpr bool is_descriptive(ArgumentRole role) {
  return role >= ArgumentRole::dims;
}

/// A valid event in a spelling that scan_event understands: no escapes in keys, no repeated
/// surprises. Empty, with the parser's reason, if the text is no valid JSON object.
[[nodiscard]] std::string canonical_event(std::string_view text, std::string& reason);

}  // namespace foretrace::trace::detail
