// An exchange belongs to the pass whose gradients began last before it on its device.
#include "models/editing/tensors/exchanged_gradients.h"

#include <algorithm>
#include <cstddef>

#include "models/editing/transfers/gradient_transfers.h"

namespace foretrace::editing {
namespace {

double summed_bytes(const TaskGraph& graph, TaskId transfer) {
  constexpr double fp32_bytes = 4;
  const int bytes = bytes_per_number(summed_precision(graph, transfer));
  return bytes > 0 ? bytes : fp32_bytes;
}

/// Ranks among which a reduce-scatter divides its input; 1 where the trace does not tell.
double ranks_of(const TaskGraph& graph, const Work& work) {
  const auto& communicators = graph.context().communicators;
  if (work.collective != CollectiveKind::reduce_scatter ||
      work.communicator >= communicators.size()) {
    return 1;
  }
  return std::max<double>(1, communicators[work.communicator].size);
}

}  // namespace

std::map<DeviceOfRank, ExchangedGradients> exchanged_gradients(
    const TaskGraph& graph, const std::vector<TrainingPass>& passes) {
  std::map<DeviceOfRank, std::vector<TaskId>> begins;  // of gradients, ascending
  for (const TrainingPass& pass : passes) {
    begins[device_of(graph, pass.backward.front())].push_back(pass.backward.front());
  }
  for (auto& [device, list] : begins) std::sort(list.begin(), list.end());
  std::map<std::pair<DeviceOfRank, std::size_t>, ExchangedGradients> of_passes;
  for (const Transfer& transfer : find_gradient_transfers(graph)) {
    const Work& work = graph.work(transfer.task);
    const DeviceOfRank device = device_of(graph, transfer.task);
    const auto own = begins.find(device);
    if (work.bytes <= 0 || own == begins.end()) continue;
    const std::vector<TaskId>& list = own->second;
    const auto after = std::upper_bound(list.begin(), list.end(), transfer.task);
    if (after == list.begin()) continue;
    const double numbers = static_cast<double>(work.bytes) / summed_bytes(graph, transfer.task);
    ExchangedGradients& sum = of_passes[{device, static_cast<std::size_t>(after - list.begin())}];
    sum.numbers += numbers;
    sum.held += numbers / ranks_of(graph, work);
    sum.typed = sum.typed && summed_precision(graph, transfer.task) != Precision::unknown;
  }
  std::map<DeviceOfRank, ExchangedGradients> most;
  for (const auto& [of, sum] : of_passes) {
    ExchangedGradients& largest = most[of.first];
    if (sum.numbers > largest.numbers) largest = sum;
  }
  return most;
}

}  // namespace foretrace::editing
