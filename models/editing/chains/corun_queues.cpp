// From end to end of kernels; in between nothing changes.
#include "models/editing/chains/corun_queues.h"

#include <algorithm>
#include <cmath>

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

}  // namespace

std::vector<EndedKernel> run_beside(const CorunModel& model, std::span<const QueuedKernel> first,
                                    std::span<const QueuedKernel> second, double conflict) {
  std::vector<EndedKernel> ended;
  Queue a(first);
  Queue b(second);
  double now = 0;
  std::int64_t last_end = 0;  // rounded, so that the sum of all is not
  while (!a.empty() || !b.empty()) {
    if (!a.empty() && !b.empty()) {
      const double known =
          conflict >= 0 ? conflict
                        : model.conflict(a.kernels[a.at].bottleneck, b.kernels[b.at].bottleneck);
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
    const std::int64_t end = std::llround(now);
    ended.push_back({second_ends, ends.at, end - last_end, ends.beside});
    last_end = end;
    ++ends.at;
    ends.load();
  }
  return ended;
}

}  // namespace foretrace::editing
