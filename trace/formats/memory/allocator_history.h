// From the history of an allocator and what it holds at its end to memory over time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trace/formats/reader.h"

namespace foretrace::trace::formats {

/// Takes segments (the end) and events (the way there) in any order; finish() walks back from the
/// end, so that a history whose begin is lost still has its right level.
class AllocatorHistory {
 public:
  struct Segment {
    std::int32_t device = 0;
    std::int64_t total_bytes = 0;
    std::int64_t allocated_bytes = 0;
    std::int64_t pending_bytes = 0;  ///< freed by the program, not yet by the stream
  };
  struct Event {
    std::string_view action;  ///< "alloc", "free_requested", "free_completed", "segment_alloc", ...
    std::int64_t bytes = 0;
    std::int64_t time_us = -1;  ///< -1: not recorded
    std::uint64_t address = 0;
  };

  void add(const Segment& segment);
  void add(std::int32_t number, const Event& event);
  [[nodiscard]] bool empty() const { return devices_.empty(); }
  /// Fills trace.memory with the device that has most events, and warns about others.
  void finish(LoadedTrace& trace);

 private:
  struct Change {
    std::int64_t time_us = 0;
    std::int64_t allocated = 0;
    std::int64_t pending = 0;
    std::int64_t reserved = 0;
  };
  struct Device {
    Change level;  // at the end
    std::vector<Change> changes;
    bool has_times = true;
  };
  static void fill(Device& device, LoadedTrace& trace);

  std::map<std::int32_t, Device> devices_;
};

}  // namespace foretrace::trace::formats
