#include "models/editing/copies/host_link.h"

#include <vector>

#include "sim/core/statistics.h"
#include "sim/core/text.h"

namespace foretrace::editing {
namespace {

// Shorter copies show their latency.
constexpr std::int64_t least_bytes = 1 << 20;

// What pinned copies reach of PCIe with 16 lanes: 15.75 GB/s (3.0), 31.5 GB/s (4.0) and 63 GB/s
// (5.0) of the specification, less about a fifth of packets' headers and flow control; NVIDIA's
// bandwidthTest gives 12 to 13 on V100, 24 to 26 on A100, and 50 to 55 on H100.
constexpr double pcie3 = 12e9;
constexpr double pcie4 = 25e9;
constexpr double pcie5 = 50e9;

double of_copies(const TaskGraph& graph) {
  std::vector<double> rates;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (graph.kind(task) != TaskKind::copy || graph.duration_ns(task) <= 0) continue;
    const Work& work = graph.work(task);
    if (work.bytes < least_bytes || !contains(graph.name(task), "Pinned")) continue;
    rates.push_back(static_cast<double>(work.bytes) / static_cast<double>(graph.duration_ns(task)) *
                    1e9);
  }
  return lower_median(std::move(rates));
}

double of_device(const TaskGraph& graph) {
  if (graph.context().devices.empty()) return pcie3;
  const DeviceInfo& device = graph.context().devices.front();
  if (contains_any(device.name, {"AMD", "Instinct", "Radeon"})) {
    // MI300 and later have PCIe 5.0; those before 4.0.
    return contains(device.name, "MI3") ? pcie5 : pcie4;
  }
  if (device.compute_major >= 9) return pcie5;
  return device.compute_major == 8 ? pcie4 : pcie3;
}

}  // namespace

double host_link_bandwidth(const TaskGraph& graph, const ParamValues& params) {
  const double given = params.number(host_link_param);
  if (given > 0) return given;
  const double recorded = of_copies(graph);
  return recorded > 0 ? recorded : of_device(graph);
}

}  // namespace foretrace::editing
