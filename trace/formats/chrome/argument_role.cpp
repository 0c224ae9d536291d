// Sorts argument keys by what they are for; letter case is ignored (it changed over the years).
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "trace/formats/chrome/event_fields.h"

namespace foretrace::trace::formats {
namespace {

struct KnownArgument {
  std::string_view key;  // lower case
  ArgumentRole role;
};

// By length; what is missing here describes the work and is kept as text.
constexpr auto known = [] {
  using enum ArgumentRole;
  return std::array{
      KnownArgument{"cid", ignored},
      KnownArgument{"ptr", ignored},
      KnownArgument{"src", ignored},
      KnownArgument{"dst", ignored},
      KnownArgument{"addr", ignored},
      KnownArgument{"cbid", ignored},
      KnownArgument{"grid", grid},
      KnownArgument{"block", block},
      KnownArgument{"bytes", bytes},
      KnownArgument{"flops", flops},
      KnownArgument{"device", device},
      KnownArgument{"ev idx", ignored},
      KnownArgument{"queued", ignored},
      KnownArgument{"stream", stream},
      KnownArgument{"context", ignored},
      KnownArgument{"finished", ignored},
      KnownArgument{"python id", ignored},
      KnownArgument{"input dims", dims},
      KnownArgument{"input type", types},
      KnownArgument{"trace name", ignored},
      KnownArgument{"correlation", correlation},
      KnownArgument{"external id", external_id},
      KnownArgument{"external ts", ignored},
      KnownArgument{"warps per sm", ignored},
      KnownArgument{"blocks per sm", ignored},
      KnownArgument{"fwd thread id", forward_thread},
      KnownArgument{"shared memory", shared_memory},
      KnownArgument{"correlation\x7Fid", correlation},  // XLA's correlation_id, as folding makes it
      KnownArgument{"concrete inputs", concrete},
      KnownArgument{"sequence number", sequence_number},
      KnownArgument{"trace iteration", ignored},
      KnownArgument{"python parent id", ignored},
      KnownArgument{"python module id", ignored},
      KnownArgument{"record function id", record_function},
      KnownArgument{"profiler event index", ignored},
      KnownArgument{"registers per thread", registers},
      KnownArgument{"memory bandwidth (gb/s)", ignored},
      KnownArgument{"est. achieved occupancy %", ignored},
  };
}();
constexpr std::size_t longest_key = 25;

// Where the keys of each length start.
constexpr auto starts = [] {
  std::array<std::uint8_t, longest_key + 2> first{};
  for (std::size_t length = 0; length < first.size(); ++length) {
    std::size_t i = 0;
    while (i < known.size() && known[i].key.size() < length) {
      ++i;
    }
    first[length] = static_cast<std::uint8_t>(i);
  }
  return first;
}();

// Folding bit 5 maps upper case to lower case, and blanks and digits to themselves.
bool same_folded(const char* text, std::string_view lower) {
  for (std::size_t i = 0; i < lower.size(); ++i) {
    if (static_cast<char>(text[i] | 0x20) != lower[i]) return false;
  }
  return true;
}

}  // namespace

ArgumentRole argument_role(std::string_view key) {
  if (key.size() > longest_key) return ArgumentRole::other;
  for (std::size_t i = starts[key.size()]; i < starts[key.size() + 1]; ++i) {
    if (same_folded(key.data(), known[i].key)) return known[i].role;
  }
  return ArgumentRole::other;
}

}  // namespace foretrace::trace::formats
