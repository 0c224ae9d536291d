// Walks over JSON text without copying: ends of strings, tokens and nested values.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace foretrace::trace::detail {

/// Bytes behind the end of scanned text that must be readable (and are ignored).
inline constexpr std::size_t scan_padding = 64;
/// Values nested deeper than this are refused: nothing a profiler writes comes near.
inline constexpr std::uint32_t depth_limit = 512;

/// One bit per byte of the 16 at `at`.
struct ByteMasks {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
};

#ifdef __SSE2__
inline __m128i load_block(const char* at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}
inline std::uint32_t mask_of(__m128i bytes) {
  return static_cast<std::uint32_t>(_mm_movemask_epi8(bytes));
}
/// first: quotes and backslashes; second: bytes beyond ASCII.
inline ByteMasks string_masks(const char* at) {
  const __m128i block = load_block(at);
  const __m128i ends = _mm_or_si128(_mm_cmpeq_epi8(block, _mm_set1_epi8('"')),
                                    _mm_cmpeq_epi8(block, _mm_set1_epi8('\\')));
  return {mask_of(ends), mask_of(block)};
}
/// Quotes, brackets and braces.
inline std::uint32_t structure_mask(const char* at) {
  const __m128i block = load_block(at);
  const __m128i folded = _mm_or_si128(block, _mm_set1_epi8(0x20));  // [ and ] become { and }
  const __m128i hits = _mm_or_si128(_mm_cmpeq_epi8(block, _mm_set1_epi8('"')),
                                    _mm_or_si128(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')),
                                                 _mm_cmpeq_epi8(folded, _mm_set1_epi8('}'))));
  return mask_of(hits);
}
#else
inline ByteMasks string_masks(const char* at) {
  ByteMasks masks;
  for (std::uint32_t i = 0; i < 16; ++i) {
    const auto byte = static_cast<unsigned char>(at[i]);
    masks.first |= (byte == '"' || byte == '\\' ? 1U : 0U) << i;
    masks.second |= (byte >= 0x80 ? 1U : 0U) << i;
  }
  return masks;
}
inline std::uint32_t structure_mask(const char* at) {
  std::uint32_t mask = 0;
  for (std::uint32_t i = 0; i < 16; ++i) {
    const auto folded = static_cast<char>(at[i] | 0x20);
    mask |= (at[i] == '"' || folded == '{' || folded == '}' ? 1U : 0U) << i;
  }
  return mask;
}
#endif

inline bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
inline bool ends_token(char c) {
  return c == ',' || c == '}' || c == ']' || c == ':' || c == '"' || c == '{' || c == '[' ||
         is_blank(c);
}

/// A string between its quotes, as written.
struct RawString {
  std::string_view text;
  bool has_escapes = false;
  bool beyond_ascii = false;
};

/// Moves over text that ends at `end`. A null result means "not what was expected" or, if
/// `ran_out()`, that the text ended before the value did.
class Scanner {
 public:
  explicit Scanner(const char* end) : end_(end) {}

  [[nodiscard]] bool ran_out() const { return ran_out_; }
  [[nodiscard]] const char* end() const { return end_; }

  /// Notes whether it was the end that stopped the scan. Always null.
  const char* stop(const char* at) {
    ran_out_ = at >= end_;
    return nullptr;
  }

  [[nodiscard]] const char* skip_blanks(const char* at) const {
    while (is_blank(*at) && at < end_) {
      ++at;
    }
    return at;
  }

  /// `at` is behind the opening quote; the result is behind the closing one.
  const char* string(const char* at, RawString& out) {
    const char* const start = at;
    bool escapes = false;
    std::uint32_t beyond = 0;
    while (at < end_) {
      const ByteMasks masks = string_masks(at);
      if (masks.first == 0) {
        beyond |= masks.second;
        at += 16;
        continue;
      }
      const int offset = std::countr_zero(masks.first);
      beyond |= masks.second & ((std::uint32_t{1} << static_cast<unsigned>(offset)) - 1);
      at += offset;
      if (at >= end_) {
        break;
      }
      if (*at == '"') {
        out = RawString{{start, static_cast<std::size_t>(at - start)}, escapes, beyond != 0};
        return at + 1;
      }
      escapes = true;
      at += 2;
    }
    return stop(end_);
  }

  /// `at` is the first byte of a number, a literal, or garbage; the result is behind it.
  const char* token(const char* at) {
    while (!ends_token(*at)) {
      if (at >= end_) {
        return stop(at);
      }
      ++at;
    }
    return at >= end_ ? stop(at) : at;
  }

  /// `at` is the first byte of any value; the result is behind it.
  const char* value(const char* at) {
    if (at >= end_) {
      return stop(at);
    }
    if (*at == '"') {
      RawString ignored;
      return string(at + 1, ignored);
    }
    if (*at == '{' || *at == '[') {
      return container(at);
    }
    const char* const behind = token(at);
    return behind == at ? stop(at) : behind;
  }

 private:
  // Counts depth only: whether brackets match is checked where the content matters.
  const char* container(const char* at) {
    std::uint32_t depth = 0;
    while (at < end_) {
      const std::uint32_t mask = structure_mask(at);
      if (mask == 0) {
        at += 16;
        continue;
      }
      at += std::countr_zero(mask);
      if (at >= end_) {
        break;
      }
      if (*at == '"') {
        RawString ignored;
        at = string(at + 1, ignored);
        if (at == nullptr) {
          return nullptr;
        }
        continue;
      }
      const bool opens = (static_cast<unsigned char>(*at) & 0x06U) == 0x02U;  // [ { against ] }
      depth += opens ? 1 : static_cast<std::uint32_t>(-1);
      ++at;
      if (depth == 0) {
        return at;
      }
      if (depth > depth_limit) {
        ran_out_ = false;
        return nullptr;
      }
    }
    return stop(end_);
  }

  const char* end_;
  bool ran_out_ = false;
};

/// Goes through the members of an object one by one: next() until it gives false, then ok() tells
/// whether the object ended well.
class Members {
 public:
  /// `object` starts with its brace; scan_padding bytes behind it must be readable.
  explicit Members(std::string_view object)
      : scanner_(object.data() + object.size()), at_(object.data()) {
    at_ = at_ < scanner_.end() && *at_ == '{' ? scanner_.skip_blanks(at_ + 1) : nullptr;
    done_ = at_ != nullptr && at_ < scanner_.end() && *at_ == '}';
  }

  bool next() {
    if (done_ || at_ == nullptr) {
      return false;
    }
    const char* at = *at_ == '"' ? scanner_.string(at_ + 1, key_) : nullptr;
    at = at == nullptr ? nullptr : scanner_.skip_blanks(at);
    at = at == nullptr || *at != ':' ? nullptr : scanner_.skip_blanks(at + 1);
    const char* const value = at;
    at = at == nullptr ? nullptr : scanner_.value(at);
    if (at == nullptr) {
      at_ = nullptr;
      return false;
    }
    value_ = {value, static_cast<std::size_t>(at - value)};
    at = scanner_.skip_blanks(at);
    done_ = at < scanner_.end() && *at == '}';
    at_ = at < scanner_.end() && *at == ',' ? scanner_.skip_blanks(at + 1) : nullptr;
    return true;
  }
  [[nodiscard]] bool ok() const { return done_; }
  [[nodiscard]] const RawString& key() const { return key_; }
  /// As written: strings keep their quotes.
  [[nodiscard]] std::string_view value() const { return value_; }

 private:
  Scanner scanner_;
  const char* at_;
  RawString key_;
  std::string_view value_;
  bool done_ = false;
};

}  // namespace foretrace::trace::detail
