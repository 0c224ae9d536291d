#include "trace/rules/assembly/assembly.h"

#include <algorithm>

namespace foretrace::trace::rules {

std::uint32_t Assembly::tail(std::uint32_t stream, std::uint32_t position) const {
  const auto& list = streams[stream].ops;
  const auto after = std::partition_point(
      list.begin(), list.end(), [&](std::uint32_t op) { return ops[op].position < position; });
  return after == list.begin() ? nothing : *(after - 1);
}

std::int64_t Assembly::end_of_source(const Source& source) const {
  const DeviceOp& op = ops[source.source_op];
  if (source.fraction >= 0) {
    return op.start_ns + static_cast<std::int64_t>(static_cast<double>(source.fraction) *
                                                   static_cast<double>(op.end_ns - op.start_ns));
  }
  return op.end_ns;
}

std::span<const Source> Assembly::sources_of(std::uint32_t op) const {
  const auto [first, last] =
      std::equal_range(sources.begin(), sources.end(), Source{.op = op},
                       [](const Source& a, const Source& b) { return a.op < b.op; });
  return {first, last};
}

std::vector<std::uint32_t> Assembly::thread_of_track() const {
  std::vector<std::uint32_t> threads_of(events.tracks.size(), nothing);
  for (std::size_t i = 0; i < threads.size(); ++i) {
    threads_of[index(threads[i].track)] = static_cast<std::uint32_t>(i);
  }
  return threads_of;
}

std::uint32_t Assembly::stream_of(std::int32_t device, std::int64_t number) const {
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (streams[i].number == number && (device < 0 || streams[i].device == device)) {
      return static_cast<std::uint32_t>(i);
    }
  }
  return nothing;
}

std::uint32_t Assembly::recording_of(const SyncRecord& wait) const {
  const auto correlation =
      static_cast<std::uint32_t>(std::max<std::int64_t>(wait.record_correlation, 0));
  const auto found = syncs.record_calls.find(correlation);
  return found == syncs.record_calls.end() ? nothing : found->second;
}

}  // namespace foretrace::trace::rules
