// Takes whole JSON values out of a stream, exactly: quotes, backslashes and depth decide where a
// value ends, whatever the chunks it comes in.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "trace/readers/detail/chunk_buffer.h"

namespace foretrace::trace::detail {

class ValueReader {
 public:
  using Progress = std::function<void(std::uint64_t, std::uint64_t)>;

  ValueReader(ByteSource& source, const Progress& progress)
      : buffer_(source), progress_(progress) {}

  enum class Outcome : std::uint8_t {
    value,
    too_long,     ///< more than ChunkBuffer::limit; nothing was used up, see skip_rest()
    too_deep,     ///< nested more than depth_limit; used up
    broken_line,  ///< a line ends inside a string; used up to there
    cut_off       ///< the source ends inside it; nothing was used up
  };
  struct Taken {
    Outcome outcome = Outcome::value;
    std::string_view text;  ///< valid until the next call
    std::uint64_t offset = 0;
  };
  enum class Lines : std::uint8_t { free, end_strings };

  /// The next byte that is not blank, '\0' at the end; nothing is used up but blanks.
  [[nodiscard]] char peek();
  [[nodiscard]] bool at_end() { return peek() == '\0' && buffer_.at() == buffer_.end(); }
  void skip_byte() { buffer_.move_to(buffer_.at() + 1); }
  /// The value that starts at the next byte. Call after peek().
  [[nodiscard]] Taken take(Lines lines);
  /// Uses up the value that was too long. False if the source ends inside it.
  bool skip_rest();
  /// Uses up text until behind it `{"ph":` (or another key of events) follows, which cannot stand
  /// inside a string. False, and everything used up, if there is none.
  [[nodiscard]] bool skip_to_event(std::size_t from);

  [[nodiscard]] ChunkBuffer& buffer() { return buffer_; }
  bool refill();

 private:
  // Where a walk over one value stands; it can stop after any byte.
  struct State {
    std::uint64_t depth = 0;
    std::uint64_t deepest = 0;
    bool scalar = false;
    bool in_string = false;
    bool escaped = false;
    bool done = false;
    bool broken = false;
    /// To behind the value, to the line end that breaks it, or to `end`.
    const char* advance(const char* at, const char* end, Lines lines);
  };
  State state_;
  ChunkBuffer buffer_;
  const Progress& progress_;
};

}  // namespace foretrace::trace::detail
