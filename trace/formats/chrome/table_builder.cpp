#include "trace/formats/chrome/table_builder.h"

#include <fmt/format.h>

#include "sim/core/integers.h"
#include "sim/core/text.h"
#include "trace/formats/json/number.h"
#include "trace/io/text.h"

namespace foretrace::trace::formats {
namespace {

// A range that never ends must not hold memory without bound.
constexpr std::size_t most_open_ranges = 1'000'000;
// 73 years in ns: a start and a duration within their ranges add up to less than 2^63.
constexpr std::int64_t longest_duration = std::int64_t{1} << 61;
// A day: profiles cover seconds.
constexpr std::int64_t suspicious_span = 86'400'000'000'000;

// -1 where older versions wrote the same bits unsigned.
template <typename Recorded>  // a Number or a token
std::int64_t id_or_none(const Recorded& recorded) {
  const std::int64_t value = integer_from(recorded).value_or(-1);
  return value == NarrowIds::all_bits_32 ? -1 : value;
}

bool is_device_category(Category category) {
  return category == Category::kernel || category == Category::copy || category == Category::set ||
         category == Category::gpu_annotation;
}

std::string_view argument(std::string_view arguments, std::string_view key) {
  Members members(arguments);
  while (members.next()) {
    if (members.key().text == key) return members.value();
  }
  return {};
}

}  // namespace

TableBuilder::TableBuilder(EventTable& table, ImportReport& report)
    : table_(table), report_(report), tracks_(table), descriptors_(table) {}

void TableBuilder::drop(std::string_view reason, std::uint64_t offset, std::string_view text) {
  report_.count(DamageKind::dropped, reason, offset, shortened(text));
}

void TableBuilder::repaired(std::string_view reason, std::uint64_t offset, std::string_view text) {
  report_.count(DamageKind::repaired, reason, offset, shortened(text));
}

void TableBuilder::add(const EventFields& event, std::uint64_t offset) {
  switch (event.phase) {
    case 'X': add_complete(event, offset); return;
    case 'i':
    case 'I': add_instant(event, offset); return;
    case 's':
    case 'f': add_flow(event, offset); return;
    case 'M': add_metadata(event); return;
    case 'B': begin_range(event, offset); return;
    case 'E': end_range(event, offset); return;
    // Flow steps, counters, samples, asynchronous ranges, objects, marks, memory dumps, clock
    // syncs: part of the format, nothing in them for us.
    case 't':
    case 'C':
    case 'P':
    case 'b':
    case 'n':
    case 'e':
    case 'S':
    case 'T':
    case 'p':
    case 'F':
    case 'N':
    case 'O':
    case 'D':
    case 'R':
    case 'c':
    case 'v':
    case 'V':
    case '(':
    case ')': return;
    case '\0':
      if (event.text.size() > 2 && contains(event.text, '"')) {
        drop("no phase", offset, event.text);
      }  // else: XLA closes its list with an empty object
      return;
    default: drop("unknown phase", offset, event.text); return;
  }
}

std::optional<std::int64_t> TableBuilder::time_of(const EventFields& event, std::uint64_t offset) {
  if (!event[NumberField::time].present()) {
    drop("no timestamp", offset, event.text);
    return std::nullopt;
  }
  const Nanoseconds time = nanoseconds_from_microseconds(event[NumberField::time]);
  if (time.state != NumberState::ok) {
    drop(time.state == NumberState::out_of_range ? "timestamp out of range"
                                                 : "timestamp is not a number",
         offset, event.text);
    return std::nullopt;
  }
  return time.value;
}

std::optional<std::int64_t> TableBuilder::duration_of(const EventFields& event,
                                                      std::uint64_t offset) {
  if (!event[NumberField::duration].present()) {
    drop("no duration", offset, event.text);
    return std::nullopt;
  }
  const Nanoseconds duration = nanoseconds_from_microseconds(event[NumberField::duration]);
  std::string_view problem;
  if (duration.state == NumberState::not_a_number) {
    problem = "duration is not a number";
  } else if (duration.state == NumberState::out_of_range || duration.value >= longest_duration) {
    problem = "duration out of range";
  } else if (duration.value < 0) {
    problem = "negative duration";
  } else {
    return duration.value;
  }
  drop(problem, offset, event.text);
  return std::nullopt;
}

void TableBuilder::note_time(std::int64_t time) {
  first_time_ = first_time_ ? std::min(*first_time_, time) : time;
  whole_microseconds_ = whole_microseconds_ && time % 1000 == 0;
  ++report_.kept;
}

NameId TableBuilder::name_of(const EventFields& event, std::uint64_t offset) {
  const RawString& name = event.name;
  if (!event.has_name) {
    repaired("no name", offset, event.text);
    return {};
  }
  if (!name.has_escapes && !name.beyond_ascii) return recent_names_.intern(name.text, table_.names);
  std::string text = name.has_escapes ? unescaped(name.text) : std::string(name.text);
  if (!is_valid_utf8(text)) {
    repaired("invalid UTF-8 in a name", offset, event.text);
    text = with_valid_utf8(text);
  }
  return table_.names.intern(text);
}

DescriptorId TableBuilder::descriptor_of(const EventFields& event, std::uint64_t offset) {
  const DescriptorTable::Found found =
      descriptors_.find_or_add(event.arguments_hash, event.described);
  if (found.lossy) {
    repaired("arguments that are no valid JSON or too long left out", offset, event.text);
  }
  return found.id;
}

TrackId TableBuilder::track_of(const EventFields& event, Category category) {
  if (is_device_category(category)) return tracks_.stream(event);
  const auto kind = category == Category::other ? Track::Kind::other : Track::Kind::host_thread;
  return tracks_.thread(kind, event);
}

void TableBuilder::add_row(const EventFields& event, Category category, NameId name, Times times) {
  const std::size_t row = table_.size();
  table_.kind.push_back(kind_of(category));
  table_.name.push_back(name);
  table_.track.push_back(track_of(event, category));
  table_.start_ns.push_back(times.start);
  table_.duration_ns.push_back(times.duration);
  table_.correlation.push_back(correlations_.narrow(event[NumberField::correlation], row));
  table_.external_id.push_back(external_ids_.narrow(event[NumberField::external_id], row));
  note_time(times.start);
}

void TableBuilder::add_complete(const EventFields& event, std::uint64_t offset) {
  const auto start = time_of(event, offset);
  if (!start) return;
  const auto duration = duration_of(event, offset);
  if (!duration) return;
  Category category = event.category;
  if (category == Category::sync) {
    add_sync(event, {*start, *duration});
    return;
  }
  descriptors_.prefetch(event.arguments_hash);
  const NameId name = name_of(event, offset);
  if (category == Category::operator_or_annotation) {
    category = names_annotation(event.name.text) ? Category::user_annotation : Category::cpu_op;
  }
  if (category == Category::runtime && !table_.info.is_hip && event.name.text.starts_with("hip")) {
    table_.info.is_hip = true;
  }
  add_row(event, category, name, {*start, *duration});
  table_.descriptor.push_back(descriptor_of(event, offset));
  add_call_numbers(event);
}

void TableBuilder::add_call_numbers(const EventFields& event) {
  const Number& recorded = event[NumberField::record_function];
  if (recorded.present()) {
    const std::int64_t number = id_or_none(recorded);
    if (number > 0 && number <= std::numeric_limits<std::uint32_t>::max()) {  // 0: none was given
      table_.record_functions.push_back(
          {make_id<EventId>(table_.size() - 1), static_cast<std::uint32_t>(number)});
    }
  }
  if (!event[NumberField::sequence_number].present()) return;
  const std::int64_t number = id_or_none(event[NumberField::sequence_number]);
  if (number >= 0) {
    table_.sequence_numbers.push_back({make_id<EventId>(table_.size() - 1), number,
                                       id_or_none(event[NumberField::forward_thread])});
  }
}

void TableBuilder::add_sync(const EventFields& event, Times times) {
  SyncRecord sync;
  sync.start_ns = times.start;
  sync.duration_ns = times.duration;
  sync.device = clamped_int32(id_or_none(event[NumberField::device]), -1);
  sync.stream = id_or_none(event[NumberField::stream]);
  sync.correlation = id_or_none(event[NumberField::correlation]);
  const std::string_view kind = argument(event.arguments, "cuda_sync_kind");
  sync.kind = sync_kind_of(kind.empty() ? event.name.text : without_quotes(kind));
  sync.wait_on_stream = id_or_none(argument(event.arguments, "wait_on_stream"));
  sync.record_correlation =
      id_or_none(argument(event.arguments, "wait_on_cuda_event_record_corr_id"));
  table_.syncs.push_back(sync);
  note_time(times.start);
}

void TableBuilder::add_instant(const EventFields& event, std::uint64_t offset) {
  if (event.name.text != "[memory]") return;
  const auto time = time_of(event, offset);
  if (!time) return;
  MemoryEvent memory;
  bool has_bytes = false;
  Members members(event.arguments);
  while (members.next()) {
    const std::string_view key = members.key().text;
    const auto value = integer_from(members.value());
    if (!value) continue;
    if (key == "Bytes") {
      memory.bytes = *value;
      has_bytes = true;
    } else if (key == "Device Type") {
      memory.device_type = clamped_int32(*value, -1);
    } else if (key == "Device Id") {
      memory.device = clamped_int32(*value, -1);
    } else if (key == "Addr") {
      memory.address = static_cast<std::uint64_t>(*value);
    } else if (key == "Total Allocated") {
      memory.total_allocated = *value;
    } else if (key == "Total Reserved") {
      memory.total_reserved = *value;
    }
  }
  if (!has_bytes) {
    drop("memory event without bytes", offset, event.text);
    return;
  }
  memory.time_ns = *time;
  memory.track = tracks_.thread(Track::Kind::host_thread, event);
  table_.memory.push_back(memory);
  note_time(*time);
}

void TableBuilder::add_flow(const EventFields& event, std::uint64_t offset) {
  // All the other arrows repeat what correlation ids say.
  if (event.category != Category::forward_flow) return;
  const auto time = time_of(event, offset);
  if (!time) return;
  const auto id = integer_from(event[NumberField::id]);
  if (!id) {
    drop("flow without an id", offset, event.text);
    return;
  }
  const TrackId track = tracks_.thread(Track::Kind::host_thread, event);
  table_.flows.push_back({*id, *time, track, event.phase == 's'});
  note_time(*time);
}

void TableBuilder::add_metadata(const EventFields& event) {
  constexpr std::size_t most_processes = 100'000;
  if (event.name.text == "process_name" && process_names_.size() < most_processes) {
    if (const auto process = integer_from(event[NumberField::process])) {
      process_names_[*process] = unescaped(without_quotes(argument(event.arguments, "name")));
    }
    return;
  }
  if (event.name.text != "thread_name" || event.arguments.empty()) return;
  const std::string name = unescaped(without_quotes(argument(event.arguments, "name")));
  tracks_.name_thread(event,
                      table_.names.intern(is_valid_utf8(name) ? name : with_valid_utf8(name)));
}

void TableBuilder::begin_range(const EventFields& event, std::uint64_t offset) {
  const auto start = time_of(event, offset);
  if (!start) return;
  if (open_range_count_ >= most_open_ranges) {
    drop("too many ranges without an end", offset, event.text);
    return;
  }
  const Category category = event.category;
  open_ranges_[track_of(event, category)].push_back(
      {name_of(event, offset), *start, category, descriptor_of(event, offset), offset});
  ++open_range_count_;
}

void TableBuilder::end_range(const EventFields& event, std::uint64_t offset) {
  const auto end = time_of(event, offset);
  if (!end) return;
  // An end may leave out the category, so that both kinds of track are looked at.
  auto open = open_ranges_.find(track_of(event, event.category));
  if (open == open_ranges_.end() || open->second.empty()) {
    open = open_ranges_.find(tracks_.thread(Track::Kind::host_thread, event));
  }
  if (open == open_ranges_.end() || open->second.empty()) {
    drop("end of a range that never began", offset, event.text);
    return;
  }
  const OpenRange range = open->second.back();
  open->second.pop_back();
  --open_range_count_;
  if (*end < range.start) {
    drop("range ends before it begins", offset, event.text);
    return;
  }
  if (*end - range.start >= longest_duration) {
    drop("duration out of range", offset, event.text);
    return;
  }
  if (range.category == Category::sync) return;
  add_row(event, range.category, range.name, {range.start, *end - range.start});
  table_.descriptor.push_back(range.descriptor);
  table_.track.back() = open->first;
}

void TableBuilder::reserve(std::size_t rows) {
  table_.kind.reserve(rows);
  table_.name.reserve(rows);
  table_.track.reserve(rows);
  table_.start_ns.reserve(rows);
  table_.duration_ns.reserve(rows);
  table_.correlation.reserve(rows);
  table_.external_id.reserve(rows);
  table_.descriptor.reserve(rows);
}

/// Recorders of 2021 left some kernels at time 0, without a duration, in traces that count from
/// 1970 or from the start of the machine. Their rows stay, as events of which nothing is known.
void TableBuilder::drop_unset_times() {
  if (first_time_ != 0) return;
  std::optional<std::int64_t> second;
  for (const std::int64_t time : table_.start_ns) {
    second = time > 0 && (!second || time < *second) ? time : second;
  }
  const auto is_unset = [&](std::size_t row) {
    return table_.start_ns[row] == 0 && table_.duration_ns[row] == 0;
  };
  std::vector<std::size_t> unset;
  bool others_are_far = second && *second > suspicious_span;
  for (std::size_t row = 0; row < table_.size(); ++row) {
    if (is_unset(row)) {
      unset.push_back(row);
    }
    others_are_far = others_are_far && (table_.start_ns[row] > 0 || is_unset(row));
  }
  if (!others_are_far || unset.empty()) return;
  for (const std::size_t row : unset) {
    drop("time 0 among times of another day", 0, table_.names[table_.name[row]]);
    --report_.kept;
    table_.kind[row] = EventKind::other;
    table_.start_ns[row] = *second;
  }
  first_time_ = second;
}

void TableBuilder::finish() {
  for (const auto& [track, ranges] : open_ranges_) {
    for (const OpenRange& range : ranges) {
      drop("range without an end", range.offset, table_.names[range.name]);
    }
  }
  correlations_.finish(table_.correlation);
  external_ids_.finish(table_.external_id);
  drop_unset_times();
  const std::int64_t first = first_time_.value_or(0);
  table_.info.first_time_ns = first;
  table_.info.resolution_ns = first_time_ && whole_microseconds_ ? 1000 : 1;
  std::int64_t span = 0;
  for (std::size_t row = 0; row < table_.size(); ++row) {
    table_.start_ns[row] -= first;
    span = std::max(span, table_.start_ns[row]);
  }
  if (span > suspicious_span) {
    report_.warnings.push_back(fmt::format(
        "events lie {} days apart: a timestamp is probably damaged", span / suspicious_span));
  }
  for (SyncRecord& sync : table_.syncs) {
    sync.start_ns -= first;
    sync.correlation = correlations_.narrowed(sync.correlation);
    sync.record_correlation = correlations_.narrowed(sync.record_correlation);
  }
  for (Flow& flow : table_.flows) {
    flow.time_ns -= first;
  }
  for (MemoryEvent& memory : table_.memory) {
    memory.time_ns -= first;
  }
  tracks_.finish(table_.info.rank);
}

}  // namespace foretrace::trace::formats
