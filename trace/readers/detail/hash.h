// A fast 64-bit hash of text, the same on every platform with the same byte order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace foretrace::trace::detail {

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
  const char* at = text.data();
  std::size_t left = text.size();
  std::uint64_t state = seed ^ fold_product(text.size() ^ first, second);
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  while (left > 16) {
    std::memcpy(&a, at, 8);
    std::memcpy(&b, at + 8, 8);
    state = fold_product(a ^ first, b ^ state);
    at += 16;
    left -= 16;
  }
  a = 0;
  b = 0;
  if (left >= 8) {
    std::memcpy(&a, at, 8);
    std::memcpy(&b, at + left - 8, 8);
  } else {
    std::memcpy(&a, at, left);
  }
  return fold_product(a ^ second, b ^ state ^ first);
}

/// Hash of pieces of one text: pieces that nothing but a comma and blanks part are hashed as one.
class RunHash {
 public:
  void add(std::string_view piece) {
    if (open_ && piece.data() <= end_ + 3) {
      end_ = piece.data() + piece.size();
      return;
    }
    flush();
    start_ = piece.data();
    end_ = start_ + piece.size();
    open_ = true;
  }
  /// 0 only if nothing was added.
  [[nodiscard]] std::uint64_t finish() {
    const bool any = open_;
    flush();
    return any && state_ == 0 ? 1 : state_;
  }

 private:
  void flush() {
    if (open_) {
      state_ = hash_bytes({start_, static_cast<std::size_t>(end_ - start_)}, state_);
    }
  }
  const char* start_ = nullptr;
  const char* end_ = nullptr;
  std::uint64_t state_ = 0;
  bool open_ = false;
};

}  // namespace foretrace::trace::detail
