#include "models/editing/copies/host_link.h"

#include <vector>

#include "sim/core/statistics.h"
#include "sim/core/text.h"

namespace foretrace::editing {
namespace {

// Shorter copies show their latency.
constexpr std::int64_t least_copy_bytes = 1 << 20;

// PCIe with 16 lanes as specified, each way.
constexpr double pcie3 = 15.75e9;
constexpr double pcie4 = 31.5e9;
constexpr double pcie5 = 63e9;
// What pinned copies reach of it: headers of packets and flow control take a fifth. NVIDIA's
// bandwidthTest gives 12 to 13 GB/s on V100 (3.0), 24 to 26 on A100 (4.0), 50 to 55 on H100 (5.0).
constexpr double reached = 0.8;

double of_copies(const TaskGraph& graph) {
  std::vector<double> rates;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (graph.kind(task) != TaskKind::copy || graph.duration_ns(task) <= 0) continue;
    const Work& work = graph.work(task);
    if (work.bytes < least_copy_bytes || !contains(graph.name(task), "Pinned")) continue;
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

double host_link_bandwidth(const TaskGraph& graph, const Accelerator* accelerator,
                           const ParamValues& params) {
  const double given = params.number(host_link_param);
  if (given > 0) return given;
  const double recorded = of_copies(graph);
  if (recorded > 0) return recorded;
  const double of_file = accelerator == nullptr ? 0 : accelerator->host_link_bandwidth;
  return reached * (of_file > 0 ? of_file : of_device(graph));
}

}  // namespace foretrace::editing
