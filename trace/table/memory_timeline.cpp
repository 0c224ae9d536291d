#include "trace/table/memory_timeline.h"

namespace foretrace::trace {

std::int64_t MemoryTimeline::total(std::size_t sample) const {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < categories.size(); ++i) {
    sum += bytes[sample * categories.size() + i];
  }
  return sum;
}

std::size_t MemoryTimeline::peak() const {
  std::size_t best = 0;
  std::int64_t most = size() == 0 ? 0 : total(0);
  for (std::size_t i = 1; i < size(); ++i) {
    const std::int64_t sum = total(i);
    if (sum > most) {
      most = sum;
      best = i;
    }
  }
  return best;
}

}  // namespace foretrace::trace
