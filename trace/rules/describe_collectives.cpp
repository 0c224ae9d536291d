#include "trace/rules/describe_collectives.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "trace/annotate/collectives/collectives.h"

namespace foretrace::trace::rules {

void describe_collectives(Assembly& assembly) {
  const RankCollectives found = extract_collectives(assembly.events);
  std::vector<std::pair<EventId, std::uint32_t>> rows;
  for (std::size_t i = 0; i < found.list.size(); ++i) {
    const RankCollective& row = found.list[i];
    const std::uint32_t size = found.groups[row.group].size;
    rows.emplace_back(row.event, static_cast<std::uint32_t>(i));
    assembly.collectives.push_back(
        {.kind = row.kind, .bytes = payload_bytes(row, size), .communicator = row.group});
  }
  for (const RankGroup& group : found.groups) {
    assembly.communicators.push_back({group.name, group.size, {assembly.rank}});
  }
  std::sort(rows.begin(), rows.end());
  for (DeviceOp& op : assembly.ops) {
    const auto at = std::lower_bound(rows.begin(), rows.end(), std::pair(op.event, 0U));
    if (at != rows.end() && at->first == op.event) {
      op.collective = at->second;
    }
  }
}

}  // namespace foretrace::trace::rules
