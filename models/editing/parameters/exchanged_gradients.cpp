// An exchange belongs to the pass whose gradients began last before it on its device.
#include "models/editing/parameters/exchanged_gradients.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "models/editing/transfers/gradient_transfers.h"

namespace foretrace::editing {
namespace {

double summed_bytes(const TaskGraph& graph, TaskId transfer) {
  constexpr double fp32_bytes = 4;
  const int bytes = bytes_per_number(summed_precision(graph, transfer));
  return bytes > 0 ? bytes : fp32_bytes;
}

/// Ranks among which a reduce-scatter divides its input; 0 where the trace does not tell.
std::uint32_t ranks_of(const TaskGraph& graph, const Work& work) {
  const auto& communicators = graph.context().communicators;
  const bool known = work.communicator < communicators.size();
  return known ? communicators[work.communicator].size : 0;
}

/// Adds up what one pass exchanges on one device.
class PassSum {
 public:
  explicit PassSum(const TaskGraph& graph) : graph_(graph) {}

  void add(TaskId transfer) {
    const Work& work = graph_.work(transfer);
    const double numbers = static_cast<double>(work.bytes) / summed_bytes(graph_, transfer);
    sum_.typed = sum_.typed && summed_precision(graph_, transfer) != Precision::unknown;
    if (work.collective != CollectiveKind::reduce_scatter) {
      if (!is_of_share(work, numbers)) {
        sum_.numbers += numbers;
        sum_.held += numbers;
      }
      return;
    }
    const std::uint32_t ranks = ranks_of(graph_, work);
    const double share = numbers / std::max(1U, ranks);
    sum_.numbers += numbers;
    sum_.held += share;
    if (ranks > 0) shares_.push_back({share, work.communicator});
  }
  [[nodiscard]] const ExchangedGradients& sum() const { return sum_; }

 private:
  struct Share {
    double numbers = 0;
    std::uint32_t communicator = 0;
  };

  /// Whether an all-reduce adds up the share that an earlier reduce-scatter left, among the ranks
  /// of other groups that have the same share (HSDP). Each share is added up once.
  bool is_of_share(const Work& work, double numbers) {
    if (work.communicator >= graph_.context().communicators.size()) return false;
    const auto share = std::find_if(shares_.begin(), shares_.end(), [&](const Share& left) {
      return left.communicator != work.communicator &&
             std::abs(left.numbers - numbers) <= share_agreement * left.numbers;
    });
    if (share == shares_.end()) return false;
    shares_.erase(share);
    return true;
  }

  /// Shares of inputs that their ranks do not divide evenly are a number larger.
  static constexpr double share_agreement = 1e-3;

  const TaskGraph& graph_;
  ExchangedGradients sum_;
  std::vector<Share> shares_;  // not added up among groups, in program order
};

}  // namespace

std::map<DeviceOfRank, ExchangedGradients> exchanged_gradients(
    const TaskGraph& graph, const std::vector<TrainingPass>& passes) {
  std::map<DeviceOfRank, std::vector<TaskId>> begins;  // of gradients, ascending
  for (const TrainingPass& pass : passes) {
    begins[device_of(graph, pass.backward.front())].push_back(pass.backward.front());
  }
  for (auto& [device, list] : begins) std::sort(list.begin(), list.end());
  std::map<std::pair<DeviceOfRank, std::size_t>, PassSum> of_passes;
  for (const Transfer& transfer : find_gradient_transfers(graph)) {
    const DeviceOfRank device = device_of(graph, transfer.task);
    const auto own = begins.find(device);
    if (graph.work(transfer.task).bytes <= 0 || own == begins.end()) continue;
    const std::vector<TaskId>& list = own->second;
    const auto after = std::upper_bound(list.begin(), list.end(), transfer.task);
    if (after == list.begin()) continue;
    const auto pass = static_cast<std::size_t>(after - list.begin());
    of_passes.try_emplace({device, pass}, graph).first->second.add(transfer.task);
  }
  std::map<DeviceOfRank, ExchangedGradients> most;
  for (const auto& [of, pass] : of_passes) {
    ExchangedGradients& largest = most[of.first];
    if (pass.sum().numbers > largest.numbers) largest = pass.sum();
  }
  return most;
}

}  // namespace foretrace::editing
