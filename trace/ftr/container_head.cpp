// The writing half of the container: all that a collector needs of it.
#include "trace/ftr/bytes.h"
#include "trace/ftr/container.h"
#include "trace/ftr/deflate.h"

namespace foretrace::trace::ftr {

std::string head() {
  std::string out(magic);
  put_fixed(out, format_version, 4);
  put_fixed(out, checksum(out), 4);
  return out;
}

std::string chunk(ChunkKind kind, std::uint32_t ordinal, std::string_view payload) {
  std::string out(chunk_magic);
  put_fixed(out, static_cast<std::uint16_t>(kind), 2);
  put_fixed(out, 0, 2);
  put_fixed(out, payload.size(), 4);
  put_fixed(out, ordinal, 4);
  put_fixed(out, checksum(payload), 4);
  put_fixed(out, checksum(out), 4);
  out += payload;
  return out;
}

}  // namespace foretrace::trace::ftr
