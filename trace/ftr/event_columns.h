// The columns of events out of their chunks, decoded in parallel.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/ftr/container.h"
#include "trace/ftr/read_table.h"
#include "trace/table/events.h"

namespace foretrace::trace::ftr {

/// 146 years in ns: sums and differences of such times fit into 64 bits.
inline constexpr std::int64_t latest = std::int64_t{1} << 62;

/// Where the rows of the file came to lie in the table.
class RowMap {
 public:
  /// Rows of the file from `first` on, and where each of them lies now (none: dropped).
  void add(std::uint64_t first, std::vector<EventId> now);
  /// `count` rows of the file from `first` on lie at `to` and behind it.
  void add_all_kept(std::uint64_t first, std::uint64_t count, std::size_t to);
  /// Call once, before `find`.
  void sort();
  /// The row of the table; none<EventId> if it was dropped or never there.
  [[nodiscard]] EventId find(std::uint64_t row) const;

 private:
  struct Part {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    std::size_t to = 0;
    std::vector<EventId> now;  // empty: all were kept
  };
  std::vector<Part> parts_;
};

/// Fills the columns of events in three steps, of which the second may run beside other work.
class EventDecoder {
 public:
  /// Finds the chunks of events; broken ones are counted.
  EventDecoder(std::span<const Chunk> chunks, EventTable& table, ImportReport& report);
  ~EventDecoder();
  EventDecoder(const EventDecoder&) = delete;
  EventDecoder& operator=(const EventDecoder&) = delete;
  /// Decodes; touches nothing but the columns of events.
  void decode();
  /// Drops or repairs, and counts, rows that refer to what is not there. Tracks, descriptors and
  /// names must be complete.
  [[nodiscard]] RowMap finish(FileNames& names);

 private:
  struct Part;
  EventTable& table_;
  ImportReport& report_;
  std::vector<Part> parts_;
};

}  // namespace foretrace::trace::ftr
