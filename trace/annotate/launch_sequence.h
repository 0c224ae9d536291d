// What the host launched, in order: the sequence that repeats where a program repeats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/table/events.h"

namespace foretrace::trace {

/// A call that put work on a device.
struct LaunchedWork {
  EventId call{};
  TrackId track{};
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t work = 0;  ///< equal for launches of operations with equal names
  std::size_t operations = 0;
  std::int64_t device_ns = 0;  ///< of its operations
};

struct LaunchSequence {
  std::vector<LaunchedWork> launches;  ///< by start
  /// When the host met the device: begins of calls that synchronize or copy between the two.
  std::vector<std::int64_t> meetings_ns;
  std::vector<std::int64_t> updates_ns;  ///< begins of ranges of an optimizer
};

[[nodiscard]] LaunchSequence launch_sequence(const EventTable& events);

}  // namespace foretrace::trace
