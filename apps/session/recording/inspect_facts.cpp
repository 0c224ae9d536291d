// What inspect says of graphs of nodes and of memory over time.
#include <algorithm>
#include <set>

#include "apps/session/recording/inspect.h"

namespace foretrace {

NodeFacts node_facts(const trace::NodeGraph& nodes) {
  NodeFacts facts;
  facts.schema = nodes.schema;
  facts.nodes = nodes.size();
  const auto on_device = [&](std::size_t row) {
    return nodes.place[row] == trace::NodePlace::device;
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    facts.on_device += on_device(i) ? 1 : 0;
    facts.with_duration += nodes.duration_ns[i] >= 0 ? 1 : 0;
  }
  for (const trace::NodeCommunication& communication : nodes.communications) {
    if (on_device(static_cast<std::size_t>(communication.node))) {
      ++facts.communications;
      facts.communicated_bytes += std::max<std::int64_t>(0, communication.bytes);
    }
  }
  facts.data_dependencies = nodes.data.size();
  facts.control_dependencies = nodes.control.size();
  std::set<std::uint64_t> tensors;
  std::set<std::uint64_t> storages;
  for (const trace::NodeTensor& tensor : nodes.tensors) {
    tensors.insert(tensor.tensor);
    if (storages.insert(tensor.storage).second) {
      // Sizes come from a file: their product may be beyond 64 bits.
      const double bytes =
          static_cast<double>(tensor.elements) * static_cast<double>(tensor.element_bytes);
      facts.storage_bytes += bytes < 1e15 ? tensor.elements * tensor.element_bytes : 0;
    }
  }
  facts.tensors = tensors.size();
  facts.storages = storages.size();
  return facts;
}

MemoryFacts memory_facts(const trace::MemoryTimeline& memory) {
  MemoryFacts facts;
  facts.samples = memory.size();
  facts.at_end = memory.at_end;
  facts.failed = memory.failed;
  if (memory.size() == 0) return facts;
  const std::size_t peak = memory.peak();
  facts.span_ns = memory.time_ns.back() - memory.time_ns.front();
  facts.peak_bytes = memory.total(peak);
  facts.peak_at_ns = memory.time_ns[peak];
  const std::size_t width = memory.categories.size();
  for (std::size_t i = 0; i < width; ++i) {
    facts.at_peak.emplace_back(memory.categories[i], memory.bytes[peak * width + i]);
  }
  std::stable_sort(facts.at_peak.begin(), facts.at_peak.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (!memory.reserved.empty()) {
    facts.reserved_bytes = *std::max_element(memory.reserved.begin(), memory.reserved.end());
  }
  return facts;
}

}  // namespace foretrace
