#include "trace/formats/json/value_reader.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "trace/formats/json/scan.h"
#include "trace/io/text.h"

namespace foretrace::trace::formats {
namespace {

// Longest start of an event that skip_to_event looks at: a brace, blanks, a key, a colon.
constexpr std::size_t event_start = 64;

// True if an event starts at the brace `at`.
bool starts_event(const char* at, const char* end) {
  constexpr std::array<std::string_view, 4> keys = {"\"ph\"", "\"cat\"", "\"pid\"", "\"ts\""};
  ++at;
  while (at < end && is_blank(*at)) {
    ++at;
  }
  for (const std::string_view key : keys) {
    const auto room = static_cast<std::size_t>(end - at);
    if (room > key.size() && std::memcmp(at, key.data(), key.size()) == 0) {
      const char* behind = at + key.size();
      while (behind < end && is_blank(*behind)) {
        ++behind;
      }
      return behind < end && *behind == ':';
    }
  }
  return false;
}

}  // namespace

// True if the value ends with this byte, or is broken by it.
bool ValueReader::State::take_in_string(char c) {
  if (escaped) {
    escaped = false;
  } else if (c == '\\') {
    escaped = true;
  } else if (c == '"') {
    in_string = false;
    done = depth == 0;
    return done;
  } else if (c == '\n' && lines == Lines::end_strings) {
    trouble = Outcome::broken_line;
    return true;
  }
  return false;
}

bool ValueReader::State::take_outside(char c) {
  if (c == '"') {
    in_string = true;
  } else if (c == '{' || c == '[') {
    deepest = std::max(deepest, ++depth);
    if (depth <= depth_limit) {
      is_list[depth] = c == '[';
    }
  } else if (c == '}' || c == ']') {
    if (depth <= depth_limit && is_list[depth] != (c == ']')) {
      trouble = Outcome::mismatch;
      return true;
    }
    done = --depth == 0;
    return done;
  }
  return false;
}

const char* ValueReader::State::advance(const char* at, const char* end) {
  for (; at < end; ++at) {
    const char c = *at;
    if (scalar) {
      if (ends_token(c)) {
        done = true;
        return at;
      }
    } else if (in_string ? take_in_string(c) : take_outside(c)) {
      return done ? at + 1 : at;
    }
  }
  return at;
}

bool ValueReader::refill() {
  const bool more = buffer_.refill();
  if (progress_) {
    progress_(buffer_.source().consumed(), buffer_.source().file_size());
  }
  return more;
}

char ValueReader::peek_behind_blanks() {
  while (true) {
    const char* const at = Scanner(buffer_.end()).skip_blanks(buffer_.at());
    buffer_.move_to(at);
    if (at < buffer_.end()) return *at;
    if (!refill()) return '\0';
  }
}

ValueReader::Taken ValueReader::take_value(Lines lines) {
  state_ = State{};
  state_.lines = lines;
  const char first = *buffer_.at();
  state_.scalar = first != '"' && first != '{' && first != '[';
  Taken taken{Outcome::value, {}, buffer_.offset_of(buffer_.at())};
  std::size_t walked = 0;
  while (true) {
    const char* const behind = state_.advance(buffer_.at() + walked, buffer_.end());
    walked = static_cast<std::size_t>(behind - buffer_.at());
    taken.text = {buffer_.at(), walked};
    if (state_.trouble != Outcome::value) {
      taken.outcome = state_.trouble;
      return taken;
    }
    if (state_.done) {
      buffer_.move_to(behind);
      taken.outcome = state_.deepest > depth_limit ? Outcome::too_deep : Outcome::value;
      return taken;
    }
    if (buffer_.at_limit()) {
      taken.outcome = Outcome::too_long;
      return taken;
    }
    if (!refill()) {
      taken.text = {buffer_.at(), buffer_.size()};
      taken.outcome = Outcome::cut_off;
      if (state_.scalar && !taken.text.empty()) {  // a number may be the whole document
        buffer_.move_to(buffer_.end());
        taken.outcome = Outcome::value;
      }
      return taken;
    }
  }
}

bool ValueReader::skip_rest() {
  while (true) {
    buffer_.move_to(buffer_.end());
    if (!refill()) return false;
    const char* const behind = state_.advance(buffer_.at(), buffer_.end());
    if (state_.done || state_.trouble != Outcome::value) {
      buffer_.move_to(behind);
      return state_.done;
    }
  }
}

bool ValueReader::skip_to_event_within(std::size_t size) {
  const char* const end = buffer_.at() + size;
  for (const char* at = buffer_.at() + 1; at < end; ++at) {
    const void* const brace = std::memchr(at, '{', static_cast<std::size_t>(end - at));
    if (brace == nullptr) return false;
    at = static_cast<const char*>(brace);
    if (starts_event(at, buffer_.end())) {
      buffer_.move_to(at);
      return true;
    }
  }
  return false;
}

bool ValueReader::skip_to_event() {
  while (true) {
    const char* at = buffer_.at();
    while (at < buffer_.end()) {
      const auto left = static_cast<std::size_t>(buffer_.end() - at);
      const void* const brace = std::memchr(at, '{', left);
      at = brace == nullptr ? buffer_.end() : static_cast<const char*>(brace);
      if (static_cast<std::size_t>(buffer_.end() - at) < event_start && !buffer_.ended()) {
        break;  // not enough text behind it to tell
      }
      if (at < buffer_.end() && starts_event(at, buffer_.end())) {
        buffer_.move_to(at);
        return true;
      }
      at += at < buffer_.end() ? 1 : 0;
    }
    buffer_.move_to(at);
    if (!refill() && at_end()) return false;
  }
}

}  // namespace foretrace::trace::formats
