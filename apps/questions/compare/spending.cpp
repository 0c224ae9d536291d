#include "apps/questions/compare/spending.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "models/hardware/kernels/kernel_class.h"

namespace foretrace {
namespace {

std::string_view words_of(KernelClass kernel_class) {
  switch (kernel_class) {
    case KernelClass::gemm: return "matrix products";
    case KernelClass::convolution: return "convolutions";
    case KernelClass::attention: return "fused attention";
    case KernelClass::normalization: return "normalization";
    case KernelClass::softmax: return "softmax";
    case KernelClass::elementwise: return "elementwise kernels";
    case KernelClass::reduction: return "reductions";
    case KernelClass::gather: return "gathers and scatters";
    case KernelClass::copy: return "copies by kernels";
    case KernelClass::optimizer: return "optimizer kernels";
    case KernelClass::collective: return "collectives";
    case KernelClass::other: return "other kernels";
  }
  return "other kernels";
}

/// Adds up stretches of one step by what they were spent on.
class Adder {
 public:
  Adder(const TaskGraph& graph, const Timeline& timeline)
      : graph_(graph), timeline_(timeline), traits_(classify_works(graph)) {}

  void add_step(const StepScope& scope) {
    const Window window{scope.begin_ns, scope.end_ns, scope.rank, no_device, scope.work_of};
    for (const Stretch& stretch : stretches_of(graph_, timeline_, window)) {
      if (stretch.use == Use::waiting) {
        add_waiting(stretch, scope);
      } else {
        add(key_of(stretch), stretch);
      }
    }
    count_operations(window);
  }

  /// Of a step that counts its device work alone: nothing waits, gaps are idle.
  void keep_work_alone(std::int64_t work_ns) {
    std::int64_t sum = 0;
    for (auto& [key, spent] : spent_) {
      const bool is_work =
          key.use == Use::compute || key.use == Use::communication || key.use == Use::copy;
      if (!is_work) spent.time_ns = 0;
      sum += spent.time_ns;
    }
    if (sum > work_ns) {
      const double share = static_cast<double>(work_ns) / static_cast<double>(sum);
      for (auto& [key, spent] : spent_) {
        spent.time_ns = static_cast<std::int64_t>(static_cast<double>(spent.time_ns) * share);
      }
    } else {
      spent_[SpentKey{}].time_ns += work_ns - sum;
    }
  }

  [[nodiscard]] const std::map<SpentKey, Spent>& spent() const { return spent_; }

 private:
  [[nodiscard]] std::string text(NameId name) const { return std::string(graph_.names()[name]); }

  void describe_place(TaskId task, SpentKey& key) const {
    key.phase = to_string(graph_.phase(task));
    key.layer = text(graph_.context().layers[index(graph_.layer(task))].name);
  }

  [[nodiscard]] SpentKey key_of_task(Use use, TaskId task) const {
    SpentKey key{.use = use};
    describe_place(task, key);
    const Work& work = graph_.work(task);
    key.kernel = text(work.name);
    key.shapes = text(work.shapes);
    const bool is_collective = graph_.kind(task) == TaskKind::collective;
    key.item =
        work.operator_name == NameId{0} || is_collective ? key.kernel : text(work.operator_name);
    if (use == Use::compute) {
      key.group = graph_.kind(task) == TaskKind::set
                      ? std::string("memory sets")
                      : std::string(words_of(traits_[index(graph_.work_id(task))].kernel_class));
    } else if (use == Use::copy) {
      key.group = key.kernel;
    } else {
      key.group = work.collective == CollectiveKind::none ? std::string("collectives")
                                                          : std::string(to_string(work.collective));
    }
    return key;
  }

  [[nodiscard]] SpentKey key_of(const Stretch& stretch) const {
    if (stretch.use == Use::idle) return {};
    if (stretch.use != Use::host) return key_of_task(stretch.use, stretch.task);
    SpentKey key{.use = Use::host};
    describe_place(stretch.task, key);
    const Phase phase = graph_.phase(stretch.task);
    key.group = phase == Phase::unknown ? "unknown phase" : key.phase;
    key.item = text(stretch.label);
    if (key.item.empty()) key.item = "outside every region";
    return key;
  }

  /// Whom it waited for, and what that rank did meanwhile.
  void add_waiting(const Stretch& stretch, const StepScope& scope) {
    const std::int32_t rank = late_rank(graph_, timeline_, stretch.task);
    SpentKey key{.use = Use::waiting, .group = "late ranks, unknown which"};
    describe_place(stretch.task, key);
    if (rank < 0 || rank == scope.rank) return add(key, stretch);
    key.group = fmt::format("rank {}", rank);
    const std::vector<Stretch>& others = of_rank(rank, scope);
    auto at = std::partition_point(others.begin(), others.end(), [&](const Stretch& other) {
      return other.end_ns <= stretch.begin_ns;
    });
    for (; at != others.end() && at->begin_ns < stretch.end_ns; ++at) {
      const Stretch& other = *at;
      const Stretch both{std::max(stretch.begin_ns, other.begin_ns),
                         std::min(stretch.end_ns, other.end_ns),
                         Use::waiting,
                         stretch.task,
                         {}};
      if (both.begin_ns >= both.end_ns) continue;
      key.item = doing(other);
      add(key, both);
    }
  }

  [[nodiscard]] std::string doing(const Stretch& other) const {
    if (other.use == Use::idle) return "latencies and gaps";
    const SpentKey there = key_of(other);
    return other.use == Use::host ? "host: " + there.item
                                  : fmt::format("{}: {}", to_string(other.use), there.group);
  }

  const std::vector<Stretch>& of_rank(std::int32_t rank, const StepScope& scope) {
    const auto found = others_.find(rank);
    if (found != others_.end()) return found->second;
    const Window window{scope.begin_ns, scope.end_ns, rank, no_device, -1};
    return others_.emplace(rank, stretches_of(graph_, timeline_, window)).first->second;
  }

  void add(const SpentKey& key, const Stretch& stretch) {
    spent_[key].time_ns += stretch.end_ns - stretch.begin_ns;
  }

  /// Every operation that runs in the window, also beneath others.
  void count_operations(const Window& window) {
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const auto task = make_id<TaskId>(i);
      const TaskKind kind = graph_.kind(task);
      if (!is_device(kind) || graph_.lane(task).rank != window.rank) continue;
      if (window.step >= 0 && graph_.step(task) != window.step) continue;
      if (graph_.work(task).part == TaskPart::begin) continue;
      const std::int64_t from = std::max(timeline_.start_ns(task), window.begin_ns);
      const std::int64_t to = std::min(timeline_.end_ns(task), window.end_ns);
      if (from >= to) continue;
      const Use use = kind == TaskKind::copy         ? Use::copy
                      : kind == TaskKind::collective ? Use::communication
                                                     : Use::compute;
      Spent& spent = spent_[key_of_task(use, task)];
      spent.busy_ns += to - from;
      spent.calls += 1;
      if (use != Use::compute) spent.bytes += std::max<std::int64_t>(0, graph_.work(task).bytes);
      spent.precision = traits_[index(graph_.work_id(task))].precision;
    }
  }

  const TaskGraph& graph_;
  const Timeline& timeline_;
  std::vector<KernelTraits> traits_;
  std::map<SpentKey, Spent> spent_;
  std::map<std::int32_t, std::vector<Stretch>> others_;  // ranks that were waited for
};

std::map<SpentKey, Spent> step_at(const TaskGraph& graph, const Run& run, std::size_t step) {
  const StepScope scope = scope_of(graph, run.steps, run.answer, step);
  Adder adder(graph, run.timeline);
  adder.add_step(scope);
  if (scope.work_of >= 0) adder.keep_work_alone(run.steps.device[step].work_ns);
  return adder.spent();
}

/// Halves lose up to a nanosecond each, and a step between those of two ranks is the length of
/// neither: as in step_breakdown(), the largest use takes the rest, in its largest amount.
void settle(std::int64_t rest_ns, std::vector<Spent>& all) {
  std::map<Use, std::int64_t> uses;
  for (const Spent& spent : all) uses[spent.key.use] += spent.time_ns;
  const auto largest =
      std::max_element(all.begin(), all.end(), [&uses](const Spent& a, const Spent& b) {
        return std::pair(uses[a.key.use], a.time_ns) < std::pair(uses[b.key.use], b.time_ns);
      });
  if (largest != all.end()) largest->time_ns += rest_ns;
}

}  // namespace

std::vector<Spent> spending_of(const TaskGraph& graph, const Run& run) {
  const auto [first, second] = run.answer.middle;
  std::map<SpentKey, Spent> sum = step_at(graph, run, first);
  if (first != second) {
    for (const auto& [key, spent] : step_at(graph, run, second)) {
      Spent& both = sum[key];
      both.time_ns += spent.time_ns;
      both.busy_ns += spent.busy_ns;
      both.calls += spent.calls;
      both.bytes += spent.bytes;
      if (both.precision == Precision::unknown) both.precision = spent.precision;
    }
  }
  std::vector<Spent> all;
  std::int64_t left = run.answer.step_ns;
  for (auto& [key, spent] : sum) {
    if (first != second) {
      spent.time_ns /= 2;
      spent.busy_ns /= 2;
      spent.calls /= 2;
      spent.bytes /= 2;
    }
    left -= spent.time_ns;
    spent.key = key;
    all.push_back(std::move(spent));
  }
  settle(left, all);
  return all;
}

}  // namespace foretrace
