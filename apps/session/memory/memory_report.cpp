// Reports of device memory.
#include "apps/session/memory/memory_report.h"

#include <algorithm>
#include <map>
#include <utility>

#include "models/hardware/memories/static_plan.h"

namespace foretrace {
namespace {

constexpr std::size_t most_single_tensors = 10;

/// Sums by key, largest first, equal ones by name.
class Shares {
 public:
  void add(std::string_view name, std::int64_t bytes) {
    MemoryShare& share = by_name_[name];
    share.bytes += bytes;
    ++share.tensors;
  }
  [[nodiscard]] std::vector<MemoryShare> largest_first() const {
    std::vector<MemoryShare> list;
    for (const auto& [name, share] : by_name_) {
      list.push_back({std::string(name), share.bytes, share.tensors});
    }
    std::stable_sort(list.begin(), list.end(),
                     [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    return list;
  }

 private:
  std::map<std::string_view, MemoryShare> by_name_;
};

void describe_peak(const TaskGraph& graph, MemoryReport& report) {
  const auto& context = graph.context();
  const MemoryCurve& curve = report.curve;
  Shares categories;
  Shares layers;
  Shares operators;
  std::vector<TensorId> live = live_tensors(graph, curve, curve.peak_point);
  for (const TensorId id : live) {
    const Tensor& tensor = context.tensors[index(id)];
    categories.add(to_string(tensor.category), tensor.bytes);
    layers.add(graph.names()[context.layers[index(tensor.layer)].name], tensor.bytes);
    operators.add(graph.names()[tensor.operator_name], tensor.bytes);
  }
  report.categories = categories.largest_first();
  report.layers = layers.largest_first();
  report.operators = operators.largest_first();
  std::stable_sort(live.begin(), live.end(), [&](TensorId a, TensorId b) {
    return context.tensors[index(a)].bytes > context.tensors[index(b)].bytes;
  });
  live.resize(std::min(live.size(), most_single_tensors));
  for (const TensorId id : live) {
    const Tensor& tensor = context.tensors[index(id)];
    std::string name(graph.names()[tensor.operator_name]);
    name += name.empty() ? "" : ", ";
    name += to_string(tensor.category);
    report.largest.push_back({std::move(name), tensor.bytes, 1});
  }
  for (const TensorId id : live_tensors(graph, curve, no_memory_point)) {
    const Tensor& tensor = context.tensors[index(id)];
    report.older_freed_bytes += tensor.freed_in == none<TaskId> ? 0 : tensor.bytes;
    report.assumed_bytes += tensor.provenance == Provenance::assumed ? tensor.bytes : 0;
  }
  if (curve.peak_point != no_memory_point) {
    const Tensor& last = context.tensors[index(curve.points[curve.peak_point].tensor)];
    report.peak_operator = graph.names()[last.operator_name];
    report.peak_layer = graph.names()[context.layers[index(last.layer)].name];
    report.peak_phase = last.phase;
  }
}

/// The peak of the curve without each category, all in one pass.
void peaks_without(const TaskGraph& graph, MemoryReport& report) {
  std::array<std::int64_t, tensor_category_count> live{};
  for (const TensorId id : live_tensors(graph, report.curve, no_memory_point)) {
    const Tensor& tensor = graph.context().tensors[index(id)];
    live[static_cast<std::size_t>(tensor.category)] += tensor.bytes;
  }
  const auto note = [&](std::int64_t total) {
    for (std::size_t c = 0; c < tensor_category_count; ++c) {
      report.peak_without[c] = std::max(report.peak_without[c], total - live[c]);
    }
  };
  note(report.curve.base_bytes);
  for (const MemoryPoint& point : report.curve.points) {
    const Tensor& tensor = graph.context().tensors[index(point.tensor)];
    live[static_cast<std::size_t>(tensor.category)] +=
        point.allocates ? tensor.bytes : -tensor.bytes;
    note(point.live_bytes);
  }
}

/// Reuse is proven by the operations that use tensors: without any there is nothing to prove.
void plan(const TaskGraph& graph, MemoryReport& report) {
  const std::vector<TaskKind>& kinds = graph.columns().kind;
  if (std::none_of(kinds.begin(), kinds.end(), is_device)) return;
  const auto items = plan_items(graph, report.curve);
  const auto planned = plan_statically(items);
  if (planned.ok() && check_plan(items, *planned).ok()) {
    report.planned_bytes = planned->bytes;
    report.no_reuse_bytes = planned->no_reuse_bytes;
  }
}

}  // namespace

std::vector<MemoryReport> memory_reports(const MemoryInputs& inputs, const Timeline& timeline) {
  std::vector<MemoryReport> reports;
  for (MemoryCurve& curve : track_memory(inputs.graph, timeline)) {
    MemoryReport& report = reports.emplace_back();
    report.curve = std::move(curve);
    report.reserved = reserved_range(inputs, report.curve, report.curve);
    describe_peak(inputs.graph, report);
    peaks_without(inputs.graph, report);
    plan(inputs.graph, report);
    report.fits = memory_fits(inputs, report.curve, report.reserved);
  }
  return reports;
}

}  // namespace foretrace
