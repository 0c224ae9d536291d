// Bytes of .ftr files: little-endian numbers, variable-length numbers, bounds checked when read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace foretrace::trace::ftr {

/// Bytes behind every text that is unpacked which must be readable (and are ignored).
inline constexpr std::size_t read_slack = 16;

/// Small magnitudes of either sign become small numbers.
[[nodiscard]] constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63);
}
[[nodiscard]] constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>((value >> 1U) ^ (0 - (value & 1U)));
}

inline void put_fixed(std::string& out, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    out += static_cast<char>(value >> (8 * i));
  }
}

inline void put_number(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80U);
    value >>= 7U;
  }
  out += static_cast<char>(value);
}

inline void put_text(std::string& out, std::string_view text) {
  put_number(out, text.size());
  out += text;
}

[[nodiscard]] inline std::uint64_t fixed_at(const char* at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(at[i])) << (8 * i);
  }
  return value;
}

/// Takes numbers and texts from the front of a text; what is not there makes it fail for good.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : left_(bytes) {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool done() const { return left_.empty(); }
  [[nodiscard]] std::size_t size() const { return left_.size(); }

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (left_.empty()) {
        break;
      }
      const auto byte = static_cast<unsigned char>(left_.front());
      left_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) {
        return value;
      }
    }
    return fail();
  }
  std::uint64_t fixed(std::size_t bytes) {
    const std::string_view taken = take(bytes);
    return ok_ ? fixed_at(taken.data(), bytes) : 0;
  }
  std::string_view text() { return take(number()); }
  std::string_view take(std::uint64_t count) {
    if (!ok_ || count > left_.size()) {
      fail();
      return {};
    }
    const std::string_view taken = left_.substr(0, static_cast<std::size_t>(count));
    left_.remove_prefix(static_cast<std::size_t>(count));
    return taken;
  }
  std::uint64_t fail() {
    ok_ = false;
    left_ = {};
    return 0;
  }

 private:
  std::string_view left_;
  bool ok_ = true;
};

}  // namespace foretrace::trace::ftr
