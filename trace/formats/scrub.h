// Takes out of a trace what tells about its machine and its people: paths, host names, call stacks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/table/events.h"

namespace foretrace::trace {

struct ScrubReport {
  std::uint64_t names = 0;   ///< distinct names and argument texts that were changed
  std::uint64_t frames = 0;  ///< events of Python frames that were removed
};

/// The text with every path in it cut down to its last part: "/data/me/x.py(3): f" becomes
/// "x.py(3): f". A slash that separates words ("forward/backward") is no path.
[[nodiscard]] std::string without_paths(std::string_view text);

/// Removes Python frames other than modules, arguments about call stacks, files and hosts, and the
/// folders of every path in names and texts. Times, tracks and ids stay as they are.
ScrubReport scrub(EventTable& table);

}  // namespace foretrace::trace
