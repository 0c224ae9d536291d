#include "trace/io/unpacked.h"

#include <fmt/format.h>

namespace foretrace::trace {

Status check_unpacked(const ByteSource& source, std::uint64_t bytes, std::uint64_t always,
                      std::uint64_t per_byte) {
  if (bytes <= always || bytes / per_byte <= source.consumed()) return ok_status();
  return Error{
      ErrorCode::bad_format,
      fmt::format("{}: {} bytes unpack to more than {} bytes, expected at most {} for each",
                  source.path(), source.consumed(), bytes, per_byte)};
}

}  // namespace foretrace::trace
