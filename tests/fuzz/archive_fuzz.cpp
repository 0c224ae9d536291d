// Any bytes as a packed file and as an archive: what comes out stays within its limits, and a
// member never gives more than the archive may hold.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "trace/io/archive.h"

namespace {

namespace trace = foretrace::trace;

constexpr trace::UnpackLimits limits = {
    .always = std::uint64_t{1} << 20U, .per_byte = 100, .most_members = 64};

/// How many bytes a source gives until its end, or until it refuses.
std::uint64_t drain(trace::ByteSource& source) {
  std::string piece(std::size_t{1} << 16U, '\0');
  std::uint64_t all = 0;
  while (true) {
    const auto got = source.read(piece);
    if (!got.ok() || *got == 0) return all;
    all += *got;
  }
}

void walk(trace::ByteSource& source, std::uint64_t most) {
  trace::ArchiveReader members(source, limits);
  std::uint64_t all = 0;
  for (std::uint64_t i = 0; i <= limits.most_members; ++i) {
    auto member = members.next();
    if (!member.ok() || !member->has_value()) return;
    all += drain(*(*member)->bytes);
    if (all > most) std::abort();
  }
  std::abort();  // more members than the limit
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto plain = trace::open_memory(bytes, "fuzz");
  const std::uint64_t whole = drain(*plain);
  if (whole > trace::always_unpacked + 1000 * std::uint64_t{size}) std::abort();
  const auto source = trace::open_memory(bytes, "fuzz");
  walk(*source, limits.always + limits.per_byte * (size + 1));
  return 0;
}
