#include "trace/formats/common/read_all.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "trace/io/unpacked.h"

namespace foretrace::trace::formats {

Result<std::string> read_all(ByteSource& source, std::string start, std::uint64_t most) {
  constexpr std::size_t first_piece = std::size_t{1} << 20;
  std::string bytes = std::move(start);
  std::size_t used = bytes.size();
  while (true) {
    if (used > most) {
      return Error{ErrorCode::unsupported,
                   fmt::format("{}: more than {} MiB when unpacked, too much for memory; unpack it "
                               "and use the plain file",
                               source.path(), most >> 20U)};
    }
    bytes.resize(std::max(used + first_piece, used * 2));
    const std::span<char> free(bytes.data() + used, bytes.size() - used);
    FORETRACE_TRY(auto got, source.read(free));
    used += got;
    FORETRACE_TRY(check_unpacked(source, used));
    if (got < free.size()) {
      bytes.resize(used);
      return bytes;
    }
  }
}

}  // namespace foretrace::trace::formats
