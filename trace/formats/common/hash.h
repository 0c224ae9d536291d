// A fast 64-bit hash of text, the same on every platform with the same byte order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace foretrace::trace::formats {

/// Product of 64 x 64 bits folded to 64: every input bit reaches every output bit.
inline std::uint64_t fold_product(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

/// Collisions of n different texts: about n^2 / 2^65, so one in 10^7 files of a million texts.
inline std::uint64_t hash_bytes(std::string_view text, std::uint64_t seed) {
  constexpr std::uint64_t first = 0xA0761D6478BD642FULL;  // odd, half of the bits set
  constexpr std::uint64_t second = 0xE7037ED1A0B428DBULL;
  const auto word = [](const char* at) {
    std::uint64_t value = 0;
    std::memcpy(&value, at, 8);
    return value;
  };
  const char* at = text.data();
  std::size_t left = text.size();
  std::uint64_t state = seed ^ fold_product(text.size() ^ first, second);
  if (left > 32) {  // two chains, which a processor works on at once
    std::uint64_t other = state;
    for (; left > 32; at += 32, left -= 32) {
      state = fold_product(word(at) ^ first, word(at + 8) ^ state);
      other = fold_product(word(at + 16) ^ second, word(at + 24) ^ other);
    }
    state ^= other;
  }
  for (; left > 16; at += 16, left -= 16) {
    state = fold_product(word(at) ^ first, word(at + 8) ^ state);
  }
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  if (left >= 8) {
    a = word(at);
    b = word(at + left - 8);
  } else if (left >= 4) {
    std::memcpy(&a, at, 4);
    std::memcpy(&b, at + left - 4, 4);
  } else {
    for (std::size_t i = 0; i < left; ++i) {
      a = a << 8U | static_cast<unsigned char>(at[i]);
    }
  }
  return fold_product(a ^ second, b ^ state ^ first);
}

/// Hash of pieces of one text: pieces that follow each other directly are hashed as one.
class RunHash {
 public:
  /// The piece [start, end); `before` is the end of what stands before it.
  void add(const char* before, const char* start, const char* end) {
    if (end_ == nullptr || end_ != before) {
      flush();
      start_ = start;
    }
    end_ = end;
  }
  /// 0 only if nothing was added.
  [[nodiscard]] std::uint64_t finish() {
    flush();
    return end_ != nullptr && state_ == 0 ? 1 : state_;
  }

 private:
  void flush() {
    if (end_ != nullptr) {
      state_ = hash_bytes({start_, static_cast<std::size_t>(end_ - start_)}, state_);
    }
  }
  const char* start_ = nullptr;
  const char* end_ = nullptr;
  std::uint64_t state_ = 0;
};

}  // namespace foretrace::trace::formats
