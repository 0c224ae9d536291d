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

namespace foretrace::trace::formats {

/// Bytes behind the end of scanned text that must be readable (and are ignored).
inline constexpr std::size_t scan_padding = 64;
/// Values nested deeper than this are refused: nothing a profiler writes comes near.
inline constexpr std::uint32_t depth_limit = 512;

/// One bit per byte of a block, first byte lowest.
struct StringMasks {
  std::uint32_t ends = 0;    ///< quotes and backslashes
  std::uint32_t beyond = 0;  ///< bytes beyond ASCII
};
struct StructureMasks {
  std::uint64_t quotes = 0;
  std::uint64_t openers = 0;  ///< [ {
  std::uint64_t closers = 0;  ///< ] }
  bool backslashes = false;   ///< any
};

#ifdef __SSE2__
inline __m128i load_block(const char* at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}
inline std::uint32_t mask_of(__m128i bytes) {
  return static_cast<std::uint32_t>(_mm_movemask_epi8(bytes));
}
inline std::uint32_t equal_mask(__m128i block, char c) {
  return mask_of(_mm_cmpeq_epi8(block, _mm_set1_epi8(c)));
}
/// Of 16 bytes.
inline StringMasks string_masks(const char* at) {
  const __m128i block = load_block(at);
  const __m128i ends = _mm_or_si128(_mm_cmpeq_epi8(block, _mm_set1_epi8('"')),
                                    _mm_cmpeq_epi8(block, _mm_set1_epi8('\\')));
  return {mask_of(ends), mask_of(block)};
}
/// Of 16 bytes: blanks and other control characters, commas, closing brackets and braces.
inline std::uint32_t token_end_mask(const char* at) {
  const __m128i block = load_block(at);
  const __m128i blanks = _mm_cmpeq_epi8(_mm_min_epu8(block, _mm_set1_epi8(' ')), block);
  const __m128i commas = _mm_cmpeq_epi8(block, _mm_set1_epi8(','));
  const __m128i folded = _mm_or_si128(block, _mm_set1_epi8(0x20));  // ] becomes }
  const __m128i closers = _mm_cmpeq_epi8(folded, _mm_set1_epi8('}'));
  return mask_of(_mm_or_si128(blanks, _mm_or_si128(commas, closers)));
}
/// Of 16 bytes: everything above the blank.
inline std::uint32_t visible_mask(const char* at) {
  const __m128i block = load_block(at);
  return 0xFFFFU ^ mask_of(_mm_cmpeq_epi8(_mm_min_epu8(block, _mm_set1_epi8(' ')), block));
}
/// Of 16 bytes: a 'w' before a 'd' or an 'a'.
inline std::uint32_t forward_mask(const char* at) {
  const __m128i next = load_block(at + 1);
  const __m128i second = _mm_or_si128(_mm_cmpeq_epi8(next, _mm_set1_epi8('d')),
                                      _mm_cmpeq_epi8(next, _mm_set1_epi8('a')));
  return mask_of(_mm_and_si128(_mm_cmpeq_epi8(load_block(at), _mm_set1_epi8('w')), second));
}
/// Of 16 bytes for each part.
template <unsigned parts>
inline StructureMasks structure_masks(const char* at) {
  StructureMasks masks;
  __m128i backslashes = _mm_setzero_si128();
  for (unsigned part = 0; part < parts; ++part) {
    const __m128i block = load_block(at + std::size_t{part} * 16);
    const __m128i folded = _mm_or_si128(block, _mm_set1_epi8(0x20));  // [ and ] become { and }
    masks.quotes |= std::uint64_t{equal_mask(block, '"')} << (part * 16);
    masks.openers |= std::uint64_t{equal_mask(folded, '{')} << (part * 16);
    masks.closers |= std::uint64_t{equal_mask(folded, '}')} << (part * 16);
    backslashes = _mm_or_si128(backslashes, _mm_cmpeq_epi8(block, _mm_set1_epi8('\\')));
  }
  masks.backslashes = mask_of(backslashes) != 0;
  return masks;
}
/// Of 64 bytes.
inline bool has_byte(const char* at, char c) {
  const __m128i bytes = _mm_set1_epi8(c);
  const auto part = [&](std::size_t i) { return _mm_cmpeq_epi8(load_block(at + 16 * i), bytes); };
  return mask_of(_mm_or_si128(_mm_or_si128(part(0), part(1)), _mm_or_si128(part(2), part(3)))) != 0;
}
/// True if the bytes of `mask` are equal at both places; up to 48 are read.
inline bool equal_48(const char* a, const char* b, std::uint64_t mask) {
  const std::uint64_t differ =
      ~std::uint64_t{mask_of(_mm_cmpeq_epi8(load_block(a), load_block(b)))};
  if ((differ & mask & 0xFFFFU) != 0) {
    return false;
  }
  const std::uint64_t rest = mask >> 16U;
  if (rest == 0) {
    return true;
  }
  const std::uint64_t mid = mask_of(_mm_cmpeq_epi8(load_block(a + 16), load_block(b + 16)));
  const std::uint64_t high = mask_of(_mm_cmpeq_epi8(load_block(a + 32), load_block(b + 32)));
  return ((mid | high << 16U) & rest) == rest;
}
#else
template <std::size_t size, typename Test>
std::uint64_t mask_where(const char* at, Test&& test) {
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < size; ++i) {
    mask |= std::uint64_t{test(at[i])} << i;
  }
  return mask;
}
inline bool is_low(char c) { return static_cast<unsigned char>(c) <= 0x20; }
inline StringMasks string_masks(const char* at) {
  return {
      static_cast<std::uint32_t>(mask_where<16>(at, [](char c) { return c == '"' || c == '\\'; })),
      static_cast<std::uint32_t>(
          mask_where<16>(at, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }))};
}
inline std::uint32_t token_end_mask(const char* at) {
  return static_cast<std::uint32_t>(
      mask_where<16>(at, [](char c) { return is_low(c) || c == ',' || c == '}' || c == ']'; }));
}
inline std::uint32_t visible_mask(const char* at) {
  return static_cast<std::uint32_t>(mask_where<16>(at, [](char c) { return !is_low(c); }));
}
inline std::uint32_t forward_mask(const char* at) {
  std::uint32_t mask = 0;
  for (std::uint32_t i = 0; i < 16; ++i) {
    mask |= std::uint32_t{at[i] == 'w' && (at[i + 1] == 'd' || at[i + 1] == 'a')} << i;
  }
  return mask;
}
template <unsigned parts>
inline StructureMasks structure_masks(const char* at) {
  constexpr std::size_t size = std::size_t{parts} * 16;
  return {mask_where<size>(at, [](char c) { return c == '"'; }),
          mask_where<size>(at, [](char c) { return (c | 0x20) == '{'; }),
          mask_where<size>(at, [](char c) { return (c | 0x20) == '}'; }),
          std::memchr(at, '\\', size) != nullptr};
}
inline bool has_byte(const char* at, char c) { return std::memchr(at, c, 64) != nullptr; }
inline bool equal_48(const char* a, const char* b, std::uint64_t length_mask) {
  return std::memcmp(a, b, static_cast<std::size_t>(std::popcount(length_mask))) == 0;
}
#endif

/// Bit i is the parity of the bits 0..i: turns quotes into "inside a string".
inline std::uint64_t prefix_parity(std::uint64_t bits) {
  for (const unsigned shift : {1U, 2U, 4U, 8U, 16U, 32U}) {
    bits ^= bits << shift;
  }
  return bits;
}

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
    if (static_cast<unsigned char>(*at) > ' ') {
      return at;
    }
    while (true) {
      const std::uint32_t visible = visible_mask(at);
      if (visible != 0) {
        return at + std::countr_zero(visible);
      }
      at += 16;
      if (at >= end_) {
        return end_;
      }
    }
  }

  /// `at` is behind the opening quote; the result is behind the closing one.
  const char* string(const char* at, RawString& out) {
    const char* const start = at;
    bool escapes = false;
    std::uint32_t beyond = 0;
    while (at < end_) {
      const StringMasks masks = string_masks(at);
      if (masks.ends == 0) {
        beyond |= masks.beyond;
        at += 16;
        continue;
      }
      const int offset = std::countr_zero(masks.ends);
      beyond |= masks.beyond & ((std::uint32_t{1} << static_cast<unsigned>(offset)) - 1);
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
    while (at < end_) {
      const std::uint32_t ends = token_end_mask(at);
      if (ends != 0) {
        at += std::countr_zero(ends);
        break;
      }
      at += 16;
    }
    return at >= end_ ? stop(end_) : at;
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

  /// As value() for an object; `found` becomes true if `letter` stands in it, and may where not.
  const char* object(const char* at, char letter, bool& found) {
    Nesting nesting;
    while (at < end_) {
      found = found || has_byte(at, letter);
      if (const char* const behind = block<4>(at, nesting)) {
        found = found || nesting.escapes;
        return nesting.escapes ? container_with_escapes(behind, nesting) : behind;
      }
      if (nesting.depth > depth_limit) {
        return nullptr;
      }
      at += 64;
    }
    return stop(end_);
  }

 private:
  struct Nesting {
    std::uint32_t depth = 0;
    std::uint64_t inside = 0;  // all ones while a block starts inside a string
    bool escapes = false;      // a block with a backslash stopped the count
  };
  // Behind the bracket that closes the value, or the start of a block with a backslash. Counts
  // depth only: whether brackets match is checked where the content matters.
  template <unsigned parts>
  static const char* block(const char* at, Nesting& nesting) {
    const StructureMasks masks = structure_masks<parts>(at);
    if (masks.backslashes) {
      nesting.escapes = true;
      return at;
    }
    const std::uint64_t strings = prefix_parity(masks.quotes) ^ nesting.inside;
    nesting.inside = 0 - (strings >> 63U);  // a parity stays the same behind the last quote
    for (std::uint64_t left = (masks.openers | masks.closers) & ~strings; left != 0;
         left &= left - 1) {
      const int bracket = std::countr_zero(left);
      nesting.depth += (masks.openers >> static_cast<unsigned>(bracket) & 1U) != 0
                           ? 1
                           : static_cast<std::uint32_t>(-1);
      if (nesting.depth == 0) {
        return at + bracket + 1;
      }
    }
    return nullptr;
  }

  // Most lists are short: half a block first.
  const char* container(const char* at) {
    Nesting nesting;
    const char* behind = block<2>(at, nesting);
    for (at += 32; behind == nullptr && at < end_; at += 64) {
      behind = block<4>(at, nesting);
      if (nesting.depth > depth_limit) {
        return nullptr;
      }
    }
    if (behind == nullptr) {
      return stop(end_);
    }
    return nesting.escapes ? container_with_escapes(behind, nesting) : behind;
  }

  const char* container_with_escapes(const char* at, const Nesting& nesting) {
    std::uint32_t depth = nesting.depth;
    bool inside = nesting.inside != 0;
    while (at < end_) {
      RawString ignored;
      if (inside || *at == '"') {
        at = string(inside ? at : at + 1, ignored);
        if (at == nullptr) {
          return nullptr;
        }
        inside = false;
        continue;
      }
      const auto folded = static_cast<char>(*at | 0x20);
      if ((folded == '{' || folded == '}') && !deeper(*at, depth)) {
        return depth == 0 ? at + 1 : nullptr;
      }
      ++at;
    }
    return stop(end_);
  }

  // Counts a bracket. False if it closes the outermost value or is nested too deeply.
  static bool deeper(char bracket, std::uint32_t& depth) {
    const bool opens = (static_cast<unsigned char>(bracket) & 0x06U) == 0x02U;  // [ { against ] }
    depth += opens ? 1 : static_cast<std::uint32_t>(-1);
    return depth != 0 && depth <= depth_limit;
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

}  // namespace foretrace::trace::formats
