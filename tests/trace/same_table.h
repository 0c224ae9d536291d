// Whether two tables say the same: texts are compared, not their ids.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "trace/table/events.h"

namespace foretrace::trace {

namespace same_table {

[[nodiscard]] inline std::string text_of(const EventTable& t, const Descriptor& d) {
  return fmt::format("{}|{}|{}|{}|{},{},{}|{},{},{}|{}|{}|{}|{}", t.names[d.dims], t.names[d.types],
                     t.names[d.concrete], d.bytes, d.grid[0], d.grid[1], d.grid[2], d.block[0],
                     d.block[1], d.block[2], d.registers_per_thread, d.shared_memory_bytes, d.flops,
                     t.names[d.text]);
}

[[nodiscard]] inline std::string text_of(const EventTable& t, const Track& k) {
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", static_cast<int>(k.kind), k.rank, k.device,
                     k.process, k.number, t.names[k.process_text], t.names[k.number_text],
                     t.names[k.name]);
}

[[nodiscard]] inline std::string row_of(const EventTable& t, std::size_t row) {
  return fmt::format("{} '{}' on {} at {} for {} corr {} ext {} {}", static_cast<int>(t.kind[row]),
                     t.names[t.name[row]], index(t.track[row]), t.start_ns[row], t.duration_ns[row],
                     t.correlation[row], t.external_id[row],
                     text_of(t, t.descriptors[index(t.descriptor[row])]));
}

[[nodiscard]] inline std::string text_of(const SyncRecord& s) {
  return fmt::format("{} {} {} {} {} {} {} {}", static_cast<int>(s.kind), s.device, s.stream,
                     s.wait_on_stream, s.record_correlation, s.correlation, s.start_ns,
                     s.duration_ns);
}
[[nodiscard]] inline std::string text_of(const Flow& f) {
  return fmt::format("{} {} {} {}", f.id, f.time_ns, index(f.track), f.is_start);
}
[[nodiscard]] inline std::string text_of(const SequenceNumber& s) {
  return fmt::format("{} {} {}", index(s.event), s.number, s.forward_thread);
}
[[nodiscard]] inline std::string text_of(const RecordFunction& r) {
  return fmt::format("{} {}", index(r.event), r.number);
}
[[nodiscard]] inline std::string text_of(const std::pair<std::string, std::string>& fact) {
  return fact.first + " " + fact.second;
}
[[nodiscard]] inline std::string text_of(const MemoryEvent& m) {
  return fmt::format("{} {} {} {} {} {} {} {}", m.time_ns, index(m.track), m.device_type, m.device,
                     m.bytes, m.address, m.total_allocated, m.total_reserved);
}
[[nodiscard]] inline std::string text_of(const DeviceProperties& d) {
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {}", d.rank, d.id, d.name, d.total_memory_bytes,
                     d.multiprocessors, d.compute_major, d.compute_minor,
                     d.max_threads_per_multiprocessor, d.registers_per_multiprocessor,
                     d.shared_memory_per_multiprocessor, d.warp_size);
}

template <typename Rows, typename Text>
std::string first_difference(std::string_view what, const Rows& a, const Rows& b,
                             const Text& text) {
  if (a.size() != b.size()) {
    return fmt::format("{}: {} and {}", what, a.size(), b.size());
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (text(a[i]) != text(b[i])) {
      return fmt::format("{} {}: {} and {}", what, i, text(a[i]), text(b[i]));
    }
  }
  return {};
}

}  // namespace same_table

/// The first difference between two tables but for the path and the reader; empty if there is none.
[[nodiscard]] inline std::string difference(const EventTable& a, const EventTable& b) {
  const auto info = [](const TraceInfo& i) {
    return fmt::format("rank {} of {} base {} first {} resolution {} hip {}", i.rank, i.world_size,
                       i.base_time_ns, i.first_time_ns, i.resolution_ns, i.is_hip);
  };
  if (info(a.info) != info(b.info)) {
    return info(a.info) + " and " + info(b.info);
  }
  if (a.tracks.size() != b.tracks.size() || a.size() != b.size()) {
    return fmt::format("{} rows, {} tracks and {} rows, {} tracks", a.size(), a.tracks.size(),
                       b.size(), b.tracks.size());
  }
  for (std::size_t i = 0; i < a.tracks.size(); ++i) {
    if (same_table::text_of(a, a.tracks[i]) != same_table::text_of(b, b.tracks[i])) {
      return fmt::format("track {}: {} and {}", i, same_table::text_of(a, a.tracks[i]),
                         same_table::text_of(b, b.tracks[i]));
    }
  }
  for (std::size_t row = 0; row < a.size(); ++row) {
    if (same_table::row_of(a, row) != same_table::row_of(b, row)) {
      return fmt::format("row {}: {} and {}", row, same_table::row_of(a, row),
                         same_table::row_of(b, row));
    }
  }
  const auto text = [](const auto& entry) { return same_table::text_of(entry); };
  for (const std::string& found :
       {same_table::first_difference("sync", a.syncs, b.syncs, text),
        same_table::first_difference("flow", a.flows, b.flows, text),
        same_table::first_difference("sequence number", a.sequence_numbers, b.sequence_numbers,
                                     text),
        same_table::first_difference("call", a.record_functions, b.record_functions, text),
        same_table::first_difference("fact", a.info.environment, b.info.environment, text),
        same_table::first_difference("memory event", a.memory, b.memory, text),
        same_table::first_difference("device", a.info.devices, b.info.devices, text)}) {
    if (!found.empty()) {
      return found;
    }
  }
  return {};
}

}  // namespace foretrace::trace
