// Collects rows of a table while records are turned into events.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "trace/table/loaded_trace.h"

namespace foretrace::trace::collector {

/// 73 years in ns: sums and differences of such times fit into 64 bits.
inline constexpr std::int64_t latest = std::int64_t{1} << 61;

/// Times on the clock of the records, one for each event; `fill` makes them relative.
struct Row {
  std::int64_t start = 0;
  std::int64_t end = 0;
  EventKind kind = EventKind::other;
  NameId name{};
  TrackId track{};
  std::uint32_t correlation = 0;
  std::uint32_t external_id = 0;
  DescriptorId descriptor{};
};

class TableFiller {
 public:
  explicit TableFiller(LoadedTrace& trace) : table_(trace.events), report_(trace.report) {
    table_.descriptors.emplace_back();
  }

  [[nodiscard]] TrackId host_thread(std::uint32_t process, std::uint32_t thread);
  [[nodiscard]] TrackId stream(std::uint32_t device, std::int64_t number);
  [[nodiscard]] DescriptorId descriptor(const Descriptor& descriptor);
  [[nodiscard]] NameTable& names() { return table_.names; }
  [[nodiscard]] EventTable& table() { return table_; }

  /// False, and counted, if the times say nothing: none recorded, an end before its start.
  bool add(const Row& row, std::string_view what);
  void drop(std::string_view reason, std::string_view what, std::uint64_t count = 1);

  /// Sorts the rows by start and fills the columns; times become relative to the first of them and
  /// of `table().syncs` and `table().memory`. `offset` leads from the records' clock to 1970.
  void fill(std::int64_t offset, std::int32_t rank);

 private:
  using TrackKey = std::tuple<Track::Kind, std::int64_t, std::int64_t>;
  using DescriptorKey = std::tuple<std::int64_t, std::array<std::int32_t, 3>,
                                   std::array<std::int32_t, 3>, std::int32_t, std::int32_t, NameId>;

  TrackId track(const TrackKey& key);

  EventTable& table_;
  ImportReport& report_;
  std::vector<Row> rows_;
  std::map<TrackKey, TrackId> tracks_;
  std::map<DescriptorKey, DescriptorId> descriptors_;
};

}  // namespace foretrace::trace::collector
