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
  std::uint64_t backslashes = 0;
  std::uint64_t openers = 0;  ///< [ {
  std::uint64_t closers = 0;  ///< ] }
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
/// Of 64 bytes.
inline StructureMasks structure_masks(const char* at) {
  StructureMasks masks;
  for (unsigned part = 0; part < 4; ++part) {
    const __m128i block = load_block(at + std::size_t{part} * 16);
    const __m128i folded = _mm_or_si128(block, _mm_set1_epi8(0x20));  // [ and ] become { and }
    masks.quotes |= std::uint64_t{equal_mask(block, '"')} << (part * 16);
    masks.backslashes |= std::uint64_t{equal_mask(block, '\\')} << (part * 16);
    masks.openers |= std::uint64_t{equal_mask(folded, '{')} << (part * 16);
    masks.closers |= std::uint64_t{equal_mask(folded, '}')} << (part * 16);
  }
  return masks;
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
inline StructureMasks structure_masks(const char* at) {
  return {mask_where<64>(at, [](char c) { return c == '"'; }),
          mask_where<64>(at, [](char c) { return c == '\\'; }),
          mask_where<64>(at, [](char c) { return (c | 0x20) == '{'; }),
          mask_where<64>(at, [](char c) { return (c | 0x20) == '}'; })};
}
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

 private:
  // Counts depth only: whether brackets match is checked where the content matters.
  const char* container(const char* at) {
    std::uint32_t depth = 0;
    std::uint64_t inside = 0;  // all ones while a block starts inside a string
    for (; at < end_; at += 64) {
      const StructureMasks masks = structure_masks(at);
      if (masks.backslashes != 0) {
        return container_with_escapes(at, depth, inside != 0);
      }
      const std::uint64_t strings = prefix_parity(masks.quotes) ^ inside;
      inside = 0 - (strings >> 63U);
      for (std::uint64_t left = (masks.openers | masks.closers) & ~strings; left != 0;
           left &= left - 1) {
        const int bracket = std::countr_zero(left);
        depth += (masks.openers >> static_cast<unsigned>(bracket) & 1U) != 0
                     ? 1
                     : static_cast<std::uint32_t>(-1);
        if (depth == 0) {
          return at + bracket + 1;
        }
      }
      if (depth > depth_limit) {
        return nullptr;
      }
    }
    return stop(end_);
  }

  const char* container_with_escapes(const char* at, std::uint32_t depth, bool inside) {
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
