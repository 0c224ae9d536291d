// Fills an EventTable from raw events and counts what was damaged.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/formats/chrome/descriptor_table.h"
#include "trace/formats/chrome/event_fields.h"
#include "trace/formats/chrome/narrow_ids.h"
#include "trace/formats/chrome/recent_names.h"
#include "trace/formats/chrome/track_table.h"
#include "trace/formats/common/event_category.h"
#include "trace/table/events.h"
#include "trace/table/import_report.h"

namespace foretrace::trace::formats {

class TableBuilder {
 public:
  TableBuilder(EventTable& table, ImportReport& report);

  /// Takes one element of traceEvents that is an object. `offset`: of its first byte.
  void add(const EventFields& event, std::uint64_t offset);
  /// Counts an element that could not be read.
  void drop(std::string_view reason, std::uint64_t offset, std::string_view text);
  /// Prepares for this many rows in all.
  void reserve(std::size_t rows);
  /// Makes times relative, ids narrow and tracks complete. Call once, after `table.info` is known.
  void finish();
  /// Names of processes, as far as the trace says any.
  [[nodiscard]] const std::map<std::int64_t, std::string>& process_names() const {
    return process_names_;
  }

 private:
  void drop_unset_times();
  struct Times {
    std::int64_t start = 0;
    std::int64_t duration = 0;
  };
  struct OpenRange {
    NameId name{};
    std::int64_t start = 0;
    Category category = Category::other;
    DescriptorId descriptor{};
    std::uint64_t offset = 0;
  };

  void add_complete(const EventFields& event, std::uint64_t offset);
  void add_sync(const EventFields& event, Times times);
  void add_instant(const EventFields& event, std::uint64_t offset);
  void add_flow(const EventFields& event, std::uint64_t offset);
  void add_metadata(const EventFields& event);
  void begin_range(const EventFields& event, std::uint64_t offset);
  void end_range(const EventFields& event, std::uint64_t offset);
  void add_row(const EventFields& event, Category category, NameId name, Times times);
  void add_call_numbers(const EventFields& event);

  [[nodiscard]] std::optional<std::int64_t> time_of(const EventFields& event, std::uint64_t offset);
  [[nodiscard]] std::optional<std::int64_t> duration_of(const EventFields& event,
                                                        std::uint64_t offset);
  [[nodiscard]] TrackId track_of(const EventFields& event, Category category);
  [[nodiscard]] NameId name_of(const EventFields& event, std::uint64_t offset);
  [[nodiscard]] DescriptorId descriptor_of(const EventFields& event, std::uint64_t offset);
  void note_time(std::int64_t time);
  void repaired(std::string_view reason, std::uint64_t offset, std::string_view text);

  EventTable& table_;
  ImportReport& report_;
  TrackTable tracks_;
  DescriptorTable descriptors_;
  RecentNames recent_names_;
  NarrowIds correlations_;
  NarrowIds external_ids_;
  std::map<std::int64_t, std::string> process_names_;
  std::map<TrackId, std::vector<OpenRange>> open_ranges_;
  std::size_t open_range_count_ = 0;
  std::optional<std::int64_t> first_time_;
  bool whole_microseconds_ = true;
};

}  // namespace foretrace::trace::formats
