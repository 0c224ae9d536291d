#include "trace/ftr/deflate.h"

#include <limits>

#include <zlib.h>
#ifdef FORETRACE_HAS_ISAL
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#endif

#include "trace/ftr/bytes.h"

namespace foretrace::trace::ftr {

std::string deflated(std::string_view plain, int level) {
  z_stream stream{};
  constexpr int memory_level = 9;
  // -15: the largest window, and no header: the chunk around it has the checksum.
  if (deflateInit2(&stream, level, Z_DEFLATED, -15, memory_level, Z_DEFAULT_STRATEGY) != Z_OK) {
    return {};
  }
  std::string out(deflateBound(&stream, plain.size()), '\0');
  // zlib does not write through next_in; its type only lacks the const.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

#ifdef FORETRACE_HAS_ISAL
namespace {

bool inflate_into(std::string_view packed, char* out, std::size_t size) {
  inflate_state state{};
  isal_inflate_init(&state);
  // ISA-L does not write through next_in; its type only lacks the const.
  state.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(packed.data()));
  state.avail_in = static_cast<std::uint32_t>(packed.size());
  state.next_out = reinterpret_cast<std::uint8_t*>(out);
  state.avail_out = static_cast<std::uint32_t>(size);
  return isal_inflate(&state) == ISAL_DECOMP_OK && state.block_state == ISAL_BLOCK_FINISH &&
         state.avail_out == 0;
}

}  // namespace

std::uint32_t checksum(std::string_view bytes) {
  return crc32_gzip_refl(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}
#else
namespace {

bool inflate_into(std::string_view packed, char* out, std::size_t size) {
  z_stream stream{};
  if (inflateInit2(&stream, -15) != Z_OK) return false;
  // zlib does not write through next_in; its type only lacks the const.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out);
  stream.avail_out = static_cast<uInt>(size);
  const bool whole = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  return whole;
}

}  // namespace

std::uint32_t checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}
#endif

std::optional<std::string> inflated(std::string_view packed, std::uint64_t size) {
  constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
  if (size > packed.size() * largest_ratio + always_inflated || size > most ||
      packed.size() > most) {
    return std::nullopt;
  }
  std::string out(static_cast<std::size_t>(size) + read_slack, '\0');
  if (!inflate_into(packed, out.data(), static_cast<std::size_t>(size))) return std::nullopt;
  return out;
}

}  // namespace foretrace::trace::ftr
