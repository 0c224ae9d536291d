// Fills an EventTable from raw events and counts what was damaged.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/formats/chrome/descriptor_table.h"
#include "trace/formats/chrome/event_fields.h"
#include "trace/formats/chrome/track_table.h"
#include "trace/formats/common/event_category.h"
#include "trace/table/events.h"
#include "trace/table/import_report.h"

namespace foretrace::trace::detail {

/// 32-bit ids from recorded ids of any size: those that fit stay as they are, the others get free
/// ones when the file is read, so that equal ids stay equal and different ones stay different.
class NarrowIds {
 public:
  /// 0 ("none") for 0, -1 and what is no number. Rows are told apart later by their position.
  std::uint32_t narrow(const Number& recorded, std::size_t row) {
    const bool fits = recorded.plain && recorded.thousandths == 0 && recorded.whole >= 0 &&
                      recorded.whole <= std::numeric_limits<std::uint32_t>::max();
    return fits ? static_cast<std::uint32_t>(recorded.whole) : narrow_other(recorded, row);
  }
  /// Puts the free ids into the column.
  void finish(std::vector<std::uint32_t>& column);
  /// The id that rows with this recorded one have now; -1 if no row has it. After finish().
  [[nodiscard]] std::int64_t narrowed(std::int64_t recorded) const;

 private:
  std::uint32_t narrow_other(const Number& recorded, std::size_t row);

  std::vector<std::pair<std::int64_t, std::uint32_t>> wide_;   // recorded id, row
  std::vector<std::pair<std::int64_t, std::uint32_t>> given_;  // recorded id, free id; sorted
};

/// The ids of names seen lately: a look-up costs one comparison of texts.
class RecentNames {
 public:
  /// scan_padding bytes behind the name must be readable.
  NameId intern(std::string_view name, NameTable& names);

 private:
  struct Entry {
    std::string_view text;  // in the table; empty at first, and so is name 0
    NameId id{};
  };
  std::array<Entry, 1024> entries_{};
};

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

}  // namespace foretrace::trace::detail
