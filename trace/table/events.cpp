#include "trace/table/events.h"

namespace foretrace::trace {
namespace {

template <typename T>
std::size_t held(const std::vector<T>& column) {
  return column.size() * sizeof(T);
}

}  // namespace

std::size_t EventTable::memory_bytes() const {
  return names.memory_bytes() + held(tracks) + held(descriptors) + held(kind) + held(name) +
         held(track) + held(start_ns) + held(duration_ns) + held(correlation) + held(external_id) +
         held(descriptor) + held(syncs) + held(flows) + held(sequence_numbers) +
         held(record_functions) + held(memory) + held(info.devices);
}

}  // namespace foretrace::trace
