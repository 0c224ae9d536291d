// Reads a source to its end, for formats that cannot be read piece by piece.
#pragma once

#include <cstdint>
#include <string>

#include "sim/core/result.h"
#include "trace/io/byte_source.h"

namespace foretrace::trace::formats {

/// `start` and what follows it; an error if that is more than `most` bytes. Memory grows with what
/// is really there, whatever the file says of its size.
[[nodiscard]] Result<std::string> read_all(ByteSource& source, std::string start,
                                           std::uint64_t most);

}  // namespace foretrace::trace::formats
