#include "apps/questions/validate/kernel_errors.h"

#include <algorithm>
#include <map>
#include <utility>

#include "models/hardware/costs/calibration/calibrate.h"
#include "models/hardware/kernels/kernel_class.h"
#include "sim/graph/change.h"

namespace foretrace {
namespace {

/// Kernels of one operator with these shapes.
struct Group {
  KernelClass kernel_class = KernelClass::other;
  std::size_t before_count = 0;
  std::size_t measured_count = 0;
  std::int64_t before_ns = 0;
  std::int64_t predicted_ns = 0;
  std::int64_t measured_ns = 0;
  [[nodiscard]] bool matched() const {
    return before_count == measured_count && before_count > 0 && measured_ns > 0;
  }
};
using Key = std::pair<std::string, std::string>;

Key key_of(const TaskGraph& graph, TaskId task) {
  const Work& work = graph.work(task);
  return {std::string(graph.names()[work.operator_name]), std::string(graph.names()[work.shapes])};
}

/// Kernels with a known operator.
template <typename Take>
void each_kernel(const TaskGraph& graph, Take take) {
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (graph.kind(task) == TaskKind::kernel) take(task, key_of(graph, task));
  }
}

/// Sums of a class and the error of each of its groups.
struct Sums {
  KernelErrorRow row;
  std::vector<double> predicted;
  std::vector<double> bandwidth;

  void add(const Group& group, double bandwidth_ratio) {
    row.kernels += group.before_count;
    row.before_ns += group.before_ns;
    row.predicted_ns += group.predicted_ns;
    row.measured_ns += group.measured_ns;
    const auto measured = static_cast<double>(group.measured_ns);
    predicted.push_back(static_cast<double>(group.predicted_ns) / measured - 1);
    bandwidth.push_back(static_cast<double>(group.before_ns) * bandwidth_ratio / measured - 1);
  }
  KernelErrorRow finished(std::string_view name) {
    row.kernel_class = name;
    row.predicted = summarize(std::move(predicted));
    row.bandwidth = summarize(std::move(bandwidth));
    return row;
  }
};

std::map<Key, Group> groups_of(const Recording& base, const Recording& changed,
                               const Change& change) {
  const TaskGraph& graph = base.graph();
  std::vector<std::int64_t> predicted(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    predicted[i] = graph.duration_ns(make_id<TaskId>(i));
  }
  for (const auto& edit : change.durations) predicted[index(edit.task)] = edit.duration_ns;
  const std::vector<KernelTraits> traits = classify_works(graph);
  std::map<Key, Group> groups;
  each_kernel(graph, [&](TaskId task, const Key& key) {
    Group& group = groups[key];
    group.kernel_class = traits[index(graph.work_id(task))].kernel_class;
    ++group.before_count;
    group.before_ns += graph.duration_ns(task);
    group.predicted_ns += predicted[index(task)];
  });
  each_kernel(changed.graph(), [&](TaskId task, const Key& key) {
    Group& group = groups[key];
    ++group.measured_count;
    group.measured_ns += changed.graph().duration_ns(task);
  });
  return groups;
}

}  // namespace

Result<KernelErrors> kernel_errors(const Recording& base, const Recording& changed,
                                   const WhatIf& swap) {
  if (!base.accelerator || !changed.accelerator) {
    return Error{ErrorCode::unsupported, "unknown accelerator of one of the two recordings"};
  }
  const foretrace::WhatIfInput scenario{base.graph(), &*base.accelerator, base.catalogue()};
  FORETRACE_TRY(const Change change, swap.info->apply(scenario, swap.parameters));
  const double bandwidth_ratio =
      base.accelerator->memory_bandwidth / changed.accelerator->memory_bandwidth;
  std::map<KernelClass, Sums> classes;
  Sums all;
  std::int64_t measured = 0;
  for (const auto& [key, group] : groups_of(base, changed, change)) {
    measured += group.measured_ns;
    if (key.first.empty() || !group.matched()) continue;
    classes[group.kernel_class].add(group, bandwidth_ratio);
    all.add(group, bandwidth_ratio);
  }
  KernelErrors errors;
  for (auto& [kernel_class, sums] : classes) {
    errors.rows.push_back(sums.finished(to_string(kernel_class)));
  }
  errors.rows.push_back(all.finished("all"));
  errors.matched_share = measured > 0 ? static_cast<double>(errors.rows.back().measured_ns) /
                                            static_cast<double>(measured)
                                      : 0;
  return errors;
}

}  // namespace foretrace
