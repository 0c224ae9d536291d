#include "apps/explorer/encode.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <zlib.h>

namespace foretrace::explorer {
namespace {

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> round_constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using State = std::array<std::uint32_t, 8>;

void add_block(std::string_view block, State& state) {
  std::array<std::uint32_t, 64> w{};
  for (std::size_t i = 0; i < 16; ++i) {
    for (std::size_t k = 0; k < 4; ++k) {
      w[i] = (w[i] << 8U) | static_cast<std::uint8_t>(block[4 * i + k]);
    }
  }
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t a = w[i - 15];
    const std::uint32_t b = w[i - 2];
    const std::uint32_t s0 = std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3U);
    const std::uint32_t s1 = std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10U);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  State s = state;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t s1 = std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25);
    const std::uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
    const std::uint32_t first = s[7] + s1 + choice + round_constants[i] + w[i];
    const std::uint32_t s0 = std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22);
    const std::uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
    s = {first + s0 + majority, s[0], s[1], s[2], s[3] + first, s[4], s[5], s[6]};
  }
  for (std::size_t i = 0; i < s.size(); ++i) state[i] += s[i];
}

}  // namespace

Result<std::string> deflated(std::string_view bytes) {
  z_stream stream{};
  constexpr int raw_window = -15;
  constexpr int memory_level = 9;
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, raw_window, memory_level,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return Error{ErrorCode::io, "page: no memory to compress the graph"};
  }
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  std::string in(bytes);  // zlib takes no const bytes
  // NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast): zlib's bytes are unsigned
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  // NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)
  stream.avail_in = static_cast<uInt>(in.size());
  stream.avail_out = static_cast<uInt>(out.size());
  const int done = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (done != Z_STREAM_END) return Error{ErrorCode::io, "page: the graph cannot be compressed"};
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      three = (three << 8U) | (i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += i + k > bytes.size() ? '=' : digits[(three >> (18U - 6U * k)) & 63U];
    }
  }
  return text;
}

std::string sha256(std::string_view bytes) {
  State state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  constexpr std::size_t block = 64;
  std::string text(bytes);
  text += static_cast<char>(0x80);
  while (text.size() % block != block - 8) text += '\0';
  const std::uint64_t bits = 8 * std::uint64_t{bytes.size()};
  for (unsigned k = 0; k < 8; ++k) text += static_cast<char>((bits >> (56U - 8U * k)) & 255U);
  for (std::size_t at = 0; at < text.size(); at += block) {
    add_block(std::string_view(text).substr(at, block), state);
  }
  std::string digest;
  for (const std::uint32_t word : state) {
    for (unsigned k = 0; k < 4; ++k) digest += static_cast<char>((word >> (24U - 8U * k)) & 255U);
  }
  return digest;
}

std::string csp_hash(std::string_view text) { return "'sha256-" + base64(sha256(text)) + "'"; }

}  // namespace foretrace::explorer
