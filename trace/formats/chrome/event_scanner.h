// Reads single events from JSON text. Writers repeat themselves: what stands between two values
// (commas, blanks, keys) is learned and from then on compared at once instead of being parsed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/formats/chrome/event_fields.h"

namespace foretrace::trace::formats {

enum class ScanOutcome : std::uint8_t { event, more_needed, unexpected };

class EventScanner {
 public:
  EventScanner();

  /// Reads the object that starts at `at` (which moves behind it) in the text that ends at `end`;
  /// scan_padding zero bytes must follow. "unexpected": a full JSON parser has to look at it.
  [[nodiscard]] ScanOutcome scan(const char*& at, const char* end, EventFields& out);

 private:
  /// What to do with the value that follows a stretch of text.
  enum class Action : std::uint8_t {
    // First the number_field_count fields of NumberField.
    name = number_field_count,
    describe,  // an argument that goes into the hash
    ignore,
    flow,     // no value: the event is an arrow, which can be skipped as a whole
    nothing,  // no value: more text follows that is not part of the stretch
    end_of_event
  };
  /// What a stretch of text between two values says. Offsets count from its start.
  struct Stretch {
    Action action = Action::nothing;
    std::uint8_t key_offset = 0;  // of the last key's quote
    bool has_notes = false;       // any of what follows
    char phase = '\0';            // '\0': no phase in it
    bool has_category = false;
    Category category = Category::other;
    ArgumentRole role = ArgumentRole::other;  // of an argument to describe
    std::uint8_t opens = 0;   // 1 + offset of the brace of the arguments; 0: not in it
    std::uint8_t closes = 0;  // offset behind their closing brace; 0: not in it
  };
  /// A stretch that may follow at a place, and the place behind the value after it.
  struct Step {
    alignas(16) std::array<char, 48> text{};
    std::uint64_t mask = 0;  // one bit per byte of the text
    Stretch stretch;
    std::uint16_t place = 0;
    std::uint8_t length = 0;
    std::uint32_t uses = 0;
  };
  /// What was read of an event so far, as far as keys go; place 0 is the start of an event.
  struct Place {
    Step likely;  // tried first; another takes its place when it was right more often since
    std::vector<Step> others;
  };
  class Walk;

  [[nodiscard]] const Step* predict(std::size_t place, const char* at);
  [[nodiscard]] static const Step* predict_other(Place& from, const char* at);
  [[nodiscard]] std::size_t learn(std::size_t place, std::string_view text, const Stretch& stretch);

  std::vector<Place> places_;
};

/// A valid event in a spelling that the scanner understands: no escapes in keys. Empty, with the
/// parser's reason, if the text is no valid JSON object.
[[nodiscard]] std::string canonical_event(std::string_view text, std::string& reason);

}  // namespace foretrace::trace::formats
