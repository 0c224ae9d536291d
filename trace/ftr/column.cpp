// A column is a method byte and then
//   dense:  blocks, each: width in bits (+ 128 for differences), least value, packed bits
//   sparse: a bit per value (1: not zero), then the values that are not zero as dense blocks
// Least values are told as their distance from the last value of the block before.
#include "trace/ftr/column.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "trace/ftr/bytes.h"

namespace foretrace::trace::ftr {
namespace {

enum Method : unsigned char { dense = 0, sparse = 1 };
constexpr unsigned difference_flag = 0x80;
// A load of 8 bytes holds 57 bits behind any bit of its first byte; wider blocks take whole words.
constexpr unsigned widest_packed = 57;

using Block = std::array<std::uint64_t, block_values>;

constexpr unsigned width_of(std::uint64_t largest) {
  const auto width = static_cast<unsigned>(std::bit_width(largest));
  return width > widest_packed ? 64 : width;
}

constexpr std::uint64_t mask_of(unsigned width) {
  return width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}

constexpr std::size_t packed_bytes(std::size_t count, unsigned width) {
  return (count * width + 7) / 8;
}

std::uint64_t load(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  if constexpr (std::endian::native == std::endian::big) {
    word = fixed_at(at, sizeof word);
  }
  return word;
}

void pack(std::string& out, const Block& values, std::size_t count, unsigned width) {
  if (width == 0) return;
  std::uint64_t word = 0;
  unsigned filled = 0;
  for (std::size_t i = 0; i < count; ++i) {
    word |= values[i] << filled;
    filled += width;
    if (filled >= 64) {
      put_fixed(out, word, 8);
      filled -= 64;
      word = filled == 0 ? 0 : values[i] >> (width - filled);
    }
  }
  put_fixed(out, word, (filled + 7) / 8);
}

struct Frame {
  std::uint64_t least = 0;  // bits of a signed number
  unsigned width = 0;
};

// Values as offsets from the least of them (as signed numbers).
Frame frame_of(const Block& values, std::size_t count) {
  auto least = static_cast<std::int64_t>(values[0]);
  std::int64_t most = least;
  for (std::size_t i = 1; i < count; ++i) {
    least = std::min(least, static_cast<std::int64_t>(values[i]));
    most = std::max(most, static_cast<std::int64_t>(values[i]));
  }
  return {static_cast<std::uint64_t>(least),
          width_of(static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least))};
}

void put_block(std::string& out, std::span<const std::int64_t> values, std::uint64_t& last) {
  Block plain{};
  Block differences{};
  std::uint64_t before = last;
  for (std::size_t i = 0; i < values.size(); ++i) {
    plain[i] = static_cast<std::uint64_t>(values[i]);
    differences[i] = plain[i] - before;
    before = plain[i];
  }
  const Frame as_plain = frame_of(plain, values.size());
  const Frame as_difference = frame_of(differences, values.size());
  const bool differs = as_difference.width < as_plain.width;
  const Frame& frame = differs ? as_difference : as_plain;
  Block& chosen = differs ? differences : plain;
  out += static_cast<char>(frame.width | (differs ? difference_flag : 0));
  put_number(out, zigzag(static_cast<std::int64_t>(differs ? frame.least : frame.least - last)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    chosen[i] -= frame.least;
  }
  pack(out, chosen, values.size(), frame.width);
  last = before;
}

void put_dense(std::string& out, std::span<const std::int64_t> values) {
  std::uint64_t last = 0;
  for (std::size_t at = 0; at < values.size(); at += block_values) {
    put_block(out, values.subspan(at, std::min(block_values, values.size() - at)), last);
  }
}

template <typename T>
void unpack(const char* at, unsigned width, std::uint64_t least, std::span<T> out) {
  const std::uint64_t mask = mask_of(width);
  if (width == 64) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = static_cast<T>(least + load(at + 8 * i));
    }
    return;
  }
  std::size_t bit = 0;
  for (T& value : out) {
    value = static_cast<T>(least + ((load(at + bit / 8) >> (bit % 8)) & mask));
    bit += width;
  }
}

template <typename T>
bool take_block(ByteReader& bytes, std::span<T> out, std::uint64_t& last) {
  const std::uint64_t head = bytes.fixed(1);
  const bool differs = (head & difference_flag) != 0;
  const auto width = static_cast<unsigned>(head & (difference_flag - 1));
  auto least = static_cast<std::uint64_t>(unzigzag(bytes.number()));
  if (width > widest_packed && width != 64) {
    bytes.fail();
  }
  const std::string_view packed = bytes.take(packed_bytes(out.size(), width));
  if (!bytes.ok()) return false;
  if (!differs) {
    least += last;
    std::uint64_t tail = least;
    if (width > 0) {
      unpack(packed.data(), width, least, out);
      const std::size_t bit = (out.size() - 1) * width;
      tail += (load(packed.data() + bit / 8) >> (bit % 8)) & mask_of(width);
    } else {
      std::fill(out.begin(), out.end(), static_cast<T>(least));
    }
    last = tail;
    return true;
  }
  std::array<std::uint64_t, block_values> steps;  // NOLINT: filled below as far as it is used
  const std::span<std::uint64_t> used(steps.data(), out.size());
  unpack(packed.data(), width, least, used);
  for (std::size_t i = 0; i < out.size(); ++i) {
    last += used[i];
    out[i] = static_cast<T>(last);
  }
  return true;
}

template <typename T>
bool take_dense(ByteReader& bytes, std::span<T> out) {
  std::uint64_t last = 0;
  for (std::size_t at = 0; at < out.size(); at += block_values) {
    if (!take_block(bytes, out.subspan(at, std::min(block_values, out.size() - at)), last)) {
      return false;
    }
  }
  return bytes.done();
}

template <typename T>
bool take_sparse(ByteReader& bytes, std::span<T> out) {
  const std::string_view bits = bytes.take((out.size() + 7) / 8);
  std::size_t count = 0;
  for (const char byte : bits) {
    count += static_cast<std::size_t>(std::popcount(static_cast<unsigned char>(byte)));
  }
  if (!bytes.ok() || count > out.size()) return false;
  std::vector<T> values(count);
  if (!take_dense(bytes, std::span<T>(values))) return false;
  std::size_t next = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const bool there = (static_cast<unsigned char>(bits[i / 8]) >> (i % 8) & 1U) != 0;
    out[i] = there ? values[next] : T{};
    next += there && next + 1 < count ? 1 : 0;
  }
  return true;
}

}  // namespace

void put_column(std::string& out, std::span<const std::int64_t> values) {
  const auto zeros = static_cast<std::size_t>(std::count(values.begin(), values.end(), 0));
  std::string plain(1, static_cast<char>(dense));
  put_dense(plain, values);
  // With few zeros the bit per value costs more than the blocks can save.
  if (zeros < values.size() / 8) {
    out += plain;
    return;
  }
  std::string bits((values.size() + 7) / 8, '\0');
  std::vector<std::int64_t> others;
  others.reserve(values.size() - zeros);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 0) {
      bits[i / 8] = static_cast<char>(bits[i / 8] | (1 << (i % 8)));
      others.push_back(values[i]);
    }
  }
  std::string thin(1, static_cast<char>(sparse));
  thin += bits;
  put_dense(thin, others);
  out += thin.size() < plain.size() ? thin : plain;
}

template <typename T>
bool take_column(std::string_view bytes, std::span<T> out) {
  ByteReader reader(bytes);
  switch (reader.fixed(1)) {
    case dense: return reader.ok() && take_dense(reader, out);
    case sparse: return take_sparse(reader, out);
    default: return false;
  }
}

template bool take_column(std::string_view, std::span<std::uint8_t>);
template bool take_column(std::string_view, std::span<std::uint32_t>);
template bool take_column(std::string_view, std::span<std::int64_t>);

}  // namespace foretrace::trace::ftr
