// From end to end of kernels; in between nothing changes.
#include "models/editing/chains/corun_queues.h"

#include <algorithm>
#include <array>

#include "sim/core/whole.h"

namespace foretrace::editing {
namespace {

struct Queue {
  std::span<const QueuedKernel> kernels;
  std::size_t at = 0;
  double left = 0;  // of the kernel at hand, alone
  bool beside = false;

  explicit Queue(std::span<const QueuedKernel> all) : kernels(all) { load(); }
  [[nodiscard]] bool empty() const { return at >= kernels.size(); }
  void load() {
    left = empty() ? 0 : kernels[at].ns;
    beside = false;
  }
};

/// Threads of a multiprocessor: CUDA C++ Programming Guide, compute capabilities. AMD: 8 waves of
/// 64 on each of 4 units, as their occupancy tables have it.
double threads_per_multiprocessor(const Accelerator& accelerator) {
  if (accelerator.compute_major == 7 && accelerator.compute_minor == 5) return 1024;
  if (accelerator.compute_major == 8 && accelerator.compute_minor > 0) return 1536;
  return 2048;
}

double product(const std::array<std::int32_t, 3>& sizes) {
  return static_cast<double>(sizes[0]) * sizes[1] * sizes[2];
}

}  // namespace

bool fills_device(const Work& work, const KernelTraits& traits, const Accelerator& accelerator) {
  const double blocks = product(work.grid);
  const double units = accelerator.multiprocessors;
  if (!(blocks > 0) || !(units > 0)) return false;
  if (traits.compute_bound) return blocks >= units;
  return blocks * product(work.block) >= units * threads_per_multiprocessor(accelerator);
}

std::vector<EndedKernel> run_beside(const CorunModel& model, std::span<const QueuedKernel> first,
                                    std::span<const QueuedKernel> second, double conflict) {
  std::vector<EndedKernel> ended;
  Queue a(first);
  Queue b(second);
  double now = 0;
  std::int64_t last_end = 0;  // rounded, so that the sum of all is not
  while (!a.empty() || !b.empty()) {
    if (!a.empty() && !b.empty()) {
      const QueuedKernel& one = a.kernels[a.at];
      const QueuedKernel& other = b.kernels[b.at];
      const bool turns = one.fills || other.fills;
      const double known = conflict >= 0 ? conflict
                           : turns       ? 1
                                         : model.conflict(one.bottleneck, other.bottleneck);
      const double work = std::min(a.left, b.left);
      now += work * (1 + std::min(known, 1.0));
      a.left -= work;
      b.left -= work;
      a.beside = a.beside || work > 0;
      b.beside = b.beside || work > 0;
    } else {
      now += a.left + b.left;
      a.left = b.left = 0;
    }
    const bool second_ends = a.empty() || (!b.empty() && b.left < a.left);
    Queue& ends = second_ends ? b : a;
    const std::int64_t end = to_whole(now);
    ended.push_back({second_ends, ends.at, end - last_end, ends.beside});
    last_end = end;
    ++ends.at;
    ends.load();
  }
  return ended;
}

}  // namespace foretrace::editing
