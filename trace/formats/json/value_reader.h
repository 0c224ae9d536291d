// Takes whole JSON values out of a stream, exactly: quotes, backslashes and depth decide where a
// value ends, whatever the chunks it comes in.
#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <string_view>

#include "trace/formats/json/chunk_buffer.h"
#include "trace/formats/json/scan.h"

namespace foretrace::trace::formats {

class ValueReader {
 public:
  using Progress = std::function<void(std::uint64_t, std::uint64_t)>;

  ValueReader(ByteSource& source, const Progress& progress)
      : buffer_(source), progress_(progress) {}

  enum class Outcome : std::uint8_t {
    value,
    too_long,     ///< more than ChunkBuffer::limit; nothing was used up, see skip_rest()
    too_deep,     ///< nested more than depth_limit; used up
    broken_line,  ///< a line ends inside a string; the text is up to there, nothing was used up
    mismatch,     ///< a bracket closes what it did not open; likewise
    cut_off       ///< the source ends inside it; nothing was used up
  };
  struct Taken {
    Outcome outcome = Outcome::value;
    std::string_view text;  ///< valid until the next call
    std::uint64_t offset = 0;
  };
  /// The next byte that is not blank, '\0' at the end; nothing is used up but blanks.
  [[nodiscard]] char peek() {
    const char c = *buffer_.at();  // the padding behind the text is zero
    return static_cast<unsigned char>(c) > ' ' ? c : peek_behind_blanks();
  }
  [[nodiscard]] bool at_end() { return peek() == '\0' && buffer_.at() == buffer_.end(); }
  void skip(std::size_t size) { buffer_.move_to(buffer_.at() + size); }
  void skip_byte() { skip(1); }
  /// The metadata value that starts at the next byte. Call after peek().
  [[nodiscard]] Taken take() { return take_value(Lines::free); }
  /// The same for an event: no line ends in strings, which finds the end of one without its quote.
  [[nodiscard]] Taken take_event() { return take_value(Lines::end_strings); }
  /// Uses up the value that was too long. False if the source ends inside it.
  bool skip_rest();
  /// Uses up text until an event starts behind it, if that is within the next `size` bytes.
  [[nodiscard]] bool skip_to_event_within(std::size_t size);
  /// Uses up text until behind it `{"ph":` (or another key of events) follows, which cannot stand
  /// inside a string. False, and everything used up, if there is none.
  [[nodiscard]] bool skip_to_event();

  [[nodiscard]] ChunkBuffer& buffer() { return buffer_; }
  bool refill();

 private:
  enum class Lines : std::uint8_t { free, end_strings };
  // Where a walk over one value stands; it can stop after any byte.
  struct State {
    Lines lines = Lines::free;
    std::uint64_t depth = 0;
    std::uint64_t deepest = 0;
    std::bitset<depth_limit + 1> is_list;  // by depth
    bool scalar = false;
    bool in_string = false;
    bool escaped = false;
    bool done = false;
    Outcome trouble = Outcome::value;  // broken_line or mismatch
    /// To behind the value, to what breaks it, or to `end`.
    const char* advance(const char* at, const char* end);
    bool take_in_string(char c);
    bool take_outside(char c);
  };
  [[nodiscard]] Taken take_value(Lines lines);
  [[nodiscard]] char peek_behind_blanks();

  State state_;
  ChunkBuffer buffer_;
  const Progress& progress_;
};

}  // namespace foretrace::trace::formats
