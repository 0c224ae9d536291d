#include "trace/formats/chrome/narrow_ids.h"

#include <algorithm>
#include <limits>

namespace foretrace::trace::formats {

std::uint32_t NarrowIds::narrow_other(const Number& recorded, std::size_t row) {
  if (!recorded.present()) return 0;
  const auto id = integer_from(recorded);
  if (!id || *id == -1) return 0;
  if (*id >= 0 && *id <= all_bits_32) return static_cast<std::uint32_t>(*id);
  wide_.emplace_back(*id, static_cast<std::uint32_t>(row));
  return 0;
}

void NarrowIds::finish(std::vector<std::uint32_t>& column) {
  if (wide_.empty()) return;
  std::vector<std::uint32_t> used = column;
  std::sort(used.begin(), used.end());
  auto wide = wide_;
  std::sort(wide.begin(), wide.end());
  // Free ids from the top down: recorded ones count up from 1.
  std::uint32_t next = std::numeric_limits<std::uint32_t>::max();
  auto taken = used.rbegin();
  const auto next_free = [&] {
    while (taken != used.rend() && *taken >= next) {
      if (*taken == next) {
        --next;
      }
      ++taken;
    }
    return next--;
  };
  std::uint32_t id = 0;
  for (std::size_t i = 0; i < wide.size(); ++i) {
    if (i == 0 || wide[i].first != wide[i - 1].first) {
      id = next_free();
      given_.emplace_back(wide[i].first, id);
    }
    column[wide[i].second] = id;
  }
}

std::int64_t NarrowIds::narrowed(std::int64_t recorded) const {
  if (given_.empty()) return recorded > all_bits_32 ? -1 : recorded;
  const auto at = std::lower_bound(given_.begin(), given_.end(), std::pair(recorded, 0U));
  if (at != given_.end() && at->first == recorded) return at->second;
  // No row was recorded with the ids that were given; they came from the top down.
  const auto below = std::partition_point(given_.begin(), given_.end(),
                                          [&](const auto& row) { return row.second > recorded; });
  const bool is_given = below != given_.end() && below->second == recorded;
  return recorded > all_bits_32 || is_given ? -1 : recorded;
}

}  // namespace foretrace::trace::formats
