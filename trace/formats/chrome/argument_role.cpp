// Sorts argument keys by what they are for; letter case is ignored (it changed over the years).
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "trace/formats/chrome/event_fields.h"

namespace foretrace::trace::formats {
namespace {

struct Known {
  std::string_view key;  // lower case
  ArgumentRole role;
};

using enum ArgumentRole;
// By length; what is missing here describes the work and is kept as text.
constexpr std::array known = {
    Known{"cid", ignored},
    Known{"ptr", ignored},
    Known{"src", ignored},
    Known{"dst", ignored},
    Known{"addr", ignored},
    Known{"cbid", ignored},
    Known{"grid", grid},
    Known{"block", block},
    Known{"bytes", bytes},
    Known{"flops", flops},
    Known{"device", device},
    Known{"ev idx", ignored},
    Known{"queued", ignored},
    Known{"stream", stream},
    Known{"context", ignored},
    Known{"finished", ignored},
    Known{"python id", ignored},
    Known{"input dims", dims},
    Known{"input type", types},
    Known{"trace name", ignored},
    Known{"correlation", correlation},
    Known{"external id", external_id},
    Known{"external ts", ignored},
    Known{"warps per sm", ignored},
    Known{"blocks per sm", ignored},
    Known{"fwd thread id", forward_thread},
    Known{"shared memory", shared_memory},
    Known{"correlation\x7Fid", correlation},  // XLA's correlation_id, as folding makes it
    Known{"concrete inputs", concrete},
    Known{"sequence number", sequence_number},
    Known{"trace iteration", ignored},
    Known{"python parent id", ignored},
    Known{"python module id", ignored},
    Known{"record function id", record_function},
    Known{"profiler event index", ignored},
    Known{"registers per thread", registers},
    Known{"memory bandwidth (gb/s)", ignored},
    Known{"est. achieved occupancy %", ignored},
};
constexpr std::size_t longest = 25;

// Where the keys of each length start.
constexpr auto starts = [] {
  std::array<std::uint8_t, longest + 2> first{};
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
    if (static_cast<char>(text[i] | 0x20) != lower[i]) {
      return false;
    }
  }
  return true;
}

}  // namespace

ArgumentRole argument_role(std::string_view key) {
  if (key.size() > longest) {
    return other;
  }
  for (std::size_t i = starts[key.size()]; i < starts[key.size() + 1]; ++i) {
    if (same_folded(key.data(), known[i].key)) {
      return known[i].role;
    }
  }
  return other;
}

}  // namespace foretrace::trace::formats
