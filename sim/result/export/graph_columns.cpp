#include "sim/result/export/graph_columns.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "sim/core/result.h"

namespace foretrace {
namespace {

using Figures = std::vector<std::int64_t>;

class ColumnPacker {
 public:
  void add(std::string_view name, const Figures& figures) {
    std::int64_t unit = 0;
    for (const std::int64_t figure : figures) {
      if (figure != 0) unit = std::gcd(unit, figure);
      if (unit == 1) break;
    }
    unit = std::max<std::int64_t>(unit, 1);
    const std::size_t offset = packed_.bytes.size();
    for (auto at = figures.begin(); at != figures.end();) {
      if (*at != 0) {
        put_signed(unit == 1 ? *at : *at / unit);
        ++at;
        continue;
      }
      const auto end = std::find_if(at, figures.end(), [](std::int64_t each) { return each != 0; });
      put(0);
      put(static_cast<std::uint64_t>(end - at - 1));
      at = end;
    }
    packed_.columns.push_back(
        {std::string(name), offset, packed_.bytes.size() - offset, figures.size(), unit});
  }
  [[nodiscard]] PackedGraph take() { return std::move(packed_); }

 private:
  void put_signed(std::int64_t value) {
    put((static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63U));
  }

  void put(std::uint64_t rest) {
    while (rest >= 128) {
      packed_.bytes += static_cast<char>((rest & 127U) | 128U);
      rest >>= 7U;
    }
    packed_.bytes += static_cast<char>(rest);
  }

  PackedGraph packed_;
};

std::int64_t point_of(Point point) {
  return point == no_point ? -1 : static_cast<std::int64_t>(index(point));
}
std::int64_t task_of_id(TaskId task) {
  return task == none<TaskId> ? -1 : static_cast<std::int64_t>(index(task));
}
/// A point as the distance back from the end of a task; 0: none.
std::int64_t back_from(std::size_t task, std::int64_t point) {
  return point < 0 ? 0 : 2 * static_cast<std::int64_t>(task) + 1 - point;
}

/// Figures of tasks of which a changed graph stores the difference: visit(name, of(graph, task)).
template <typename Visit>
void visit_task_figures(Visit&& visit) {
  using Graph = TaskGraph;
  using Id = std::size_t;
  visit("lane", [](const Graph& g, Id i) { return index(g.columns().lane[i]); });
  visit("work", [](const Graph& g, Id i) { return index(g.columns().work[i]); });
  visit("phase", [](const Graph& g, Id i) { return g.columns().phase[i]; });
  visit("layer", [](const Graph& g, Id i) { return index(g.columns().layer[i]); });
  visit("provenance", [](const Graph& g, Id i) { return g.columns().provenance[i]; });
  visit("step", [](const Graph& g, Id i) { return g.columns().step[i]; });
  const auto kind = [](const Graph& g, Id i, Slot slot) {
    return kind_of(g.topology().kinds[i][slot]);
  };
  visit("cause_kind", [kind](const Graph& g, Id i) { return kind(g, i, cause_slot); });
  visit("extra_kind", [kind](const Graph& g, Id i) { return kind(g, i, extra_slot); });
  visit("duration", [](const Graph& g, Id i) { return (*g.weights().duration_ns)[i]; });
  visit("segment", [](const Graph& g, Id i) { return (*g.weights().segment_ns)[i]; });
  visit("cause_lag", [](const Graph& g, Id i) { return (*g.weights().lag_ns)[i][0]; });
  visit("extra_lag", [](const Graph& g, Id i) { return (*g.weights().lag_ns)[i][1]; });
}

constexpr std::pair<std::string_view, Slot> source_slots[] = {
    {"lane_source", lane_slot}, {"cause_source", cause_slot}, {"extra_source", extra_slot}};

void add_overflow(const TaskGraph& graph, ColumnPacker& packer) {
  const Topology& topology = graph.topology();
  const std::size_t rows = topology.overflow.size();
  Figures task(rows);
  Figures source(rows);
  Figures late(rows);
  Figures fraction(rows);
  Figures kind(rows);
  Figures lag(rows);
  std::int64_t before = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const OverflowDependency& row = topology.overflow[i];
    const auto own = static_cast<std::int64_t>(index(row.task));
    task[i] = own - before;
    before = own;
    source[i] = back_from(index(row.task), point_of(row.source));
    late[i] = back_from(index(row.task), point_of(row.late_after));
    fraction[i] = std::bit_cast<std::uint32_t>(row.fraction);
    kind[i] = static_cast<std::int64_t>(row.kind);
    lag[i] = (*graph.weights().overflow_lag_ns)[i];
  }
  packer.add("overflow_task", task);
  packer.add("overflow_source", source);
  packer.add("overflow_late", late);
  packer.add("overflow_fraction", fraction);
  packer.add("overflow_kind", kind);
  packer.add("overflow_lag", lag);
}

/// Tasks of tensors are stored plus 1, so that none is 0.
std::vector<std::pair<std::string_view, Figures>> tensor_figures(const TaskGraph& graph) {
  std::vector<std::pair<std::string_view, Figures>> columns;
  const auto add = [&](std::string_view name, const auto& figure) {
    Figures figures;
    for (const Tensor& tensor : graph.context().tensors) {
      figures.push_back(static_cast<std::int64_t>(figure(tensor)));
    }
    columns.emplace_back(name, std::move(figures));
  };
  add("tensor_allocated", [](const Tensor& t) { return task_of_id(t.allocated_in) + 1; });
  add("tensor_freed", [](const Tensor& t) { return task_of_id(t.freed_in) + 1; });
  add("tensor_allocated_offset", [](const Tensor& t) { return t.allocated_offset_ns; });
  add("tensor_freed_offset", [](const Tensor& t) { return t.freed_offset_ns; });
  add("tensor_allocated_sequence", [](const Tensor& t) { return t.allocated_sequence; });
  add("tensor_freed_sequence", [](const Tensor& t) { return t.freed_sequence; });
  add("tensor_bytes", [](const Tensor& t) { return t.bytes; });
  add("tensor_category", [](const Tensor& t) { return t.category; });
  add("tensor_rank", [&](const Tensor& t) { return graph.rank_of(t); });
  add("tensor_device", [](const Tensor& t) { return t.device; });
  return columns;
}

/// Where the tasks of the base are now; -1: gone.
Figures moved_ids(std::size_t base_size, std::size_t size, std::span<const TaskId> origin) {
  Figures moved(base_size, -1);
  for (std::size_t i = 0; i < size; ++i) {
    const TaskId from = origin.empty() ? make_id<TaskId>(i) : origin[i];
    if (from != none<TaskId>) moved[index(from)] = static_cast<std::int64_t>(i);
  }
  return moved;
}

/// Differences of tensors against those of the base, whose tasks have moved.
void add_changed_tensors(const TaskGraph& graph, const TaskGraph& base, const Figures& moved,
                         ColumnPacker& packer) {
  auto old_columns = tensor_figures(base);
  std::size_t at = 0;
  for (auto& [name, figures] : tensor_figures(graph)) {
    const Figures& old = old_columns[at].second;
    const bool is_task = at++ < 2;
    for (std::size_t i = 0; i < figures.size(); ++i) {
      if (is_task) {
        const std::int64_t was = i < old.size() ? old[i] - 1 : -1;
        figures[i] = figures[i] - 1 - (was < 0 ? -1 : moved[static_cast<std::size_t>(was)]);
      } else if (i < old.size()) {
        figures[i] -= old[i];
      }
    }
    packer.add(name, figures);
  }
}

}  // namespace

PackedGraph pack_graph(const TaskGraph& graph) {
  ColumnPacker packer;
  const std::size_t size = graph.size();
  Figures figures(size);
  visit_task_figures([&](std::string_view name, const auto& of) {
    for (std::size_t i = 0; i < size; ++i) figures[i] = static_cast<std::int64_t>(of(graph, i));
    packer.add(name, figures);
  });
  for (const auto& [name, slot] : source_slots) {
    Figures last(graph.context().lanes.size(), -1);
    for (std::size_t i = 0; i < size; ++i) {
      const std::int64_t point = point_of(graph.topology().sources[i][slot]);
      figures[i] = back_from(i, point);
      if (slot != lane_slot) continue;
      std::int64_t& before = last[index(graph.columns().lane[i])];
      figures[i] = point == before ? 0 : figures[i] + 1;
      before = 2 * static_cast<std::int64_t>(i) + 1;
    }
    packer.add(name, figures);
  }
  add_overflow(graph, packer);
  Figures task;
  Figures label;
  Figures duration;
  std::int64_t before = 0;
  for (const SegmentPart& part : graph.context().segment_parts) {
    const auto own = static_cast<std::int64_t>(index(part.task));
    task.push_back(own - before);
    before = own;
    label.push_back(static_cast<std::int64_t>(index(part.label)));
    duration.push_back(part.duration_ns);
  }
  packer.add("part_task", task);
  packer.add("part_label", label);
  packer.add("part_duration", duration);
  for (const auto& [name, of_tensors] : tensor_figures(graph)) packer.add(name, of_tensors);
  return packer.take();
}

PackedGraph pack_variant(const TaskGraph& graph, const TaskGraph& base,
                         std::span<const TaskId> origin) {
  FORETRACE_CHECK(origin.empty() ? graph.size() == base.size() : origin.size() == graph.size());
  ColumnPacker packer;
  const std::size_t size = graph.size();
  const Figures moved = moved_ids(base.size(), size, origin);
  const auto from = [&](std::size_t i) { return origin.empty() ? make_id<TaskId>(i) : origin[i]; };
  Figures stored(size);
  std::int64_t expected = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const std::int64_t was = task_of_id(from(i));
    stored[i] = was < 0 ? 1 : 2 * (was - expected);  // odd: inserted
    if (was >= 0) expected = was + 1;
  }
  packer.add("origin", stored);
  visit_task_figures([&](std::string_view name, const auto& of) {
    for (std::size_t i = 0; i < size; ++i) {
      const TaskId was = from(i);
      const auto before = was == none<TaskId> ? 0 : static_cast<std::int64_t>(of(base, index(was)));
      stored[i] = static_cast<std::int64_t>(of(graph, i)) - before;
    }
    packer.add(name, stored);
  });
  for (const auto& [name, slot] : source_slots) {
    for (std::size_t i = 0; i < size; ++i) {
      stored[i] = back_from(i, point_of(graph.topology().sources[i][slot]));
      const TaskId was = from(i);
      const std::int64_t point =
          was == none<TaskId> ? -1 : point_of(base.topology().sources[index(was)][slot]);
      const std::int64_t task = point < 0 ? -1 : moved[static_cast<std::size_t>(point / 2)];
      if (task >= 0) stored[i] -= back_from(i, 2 * task + point % 2);
    }
    packer.add(name, stored);
  }
  add_overflow(graph, packer);
  add_changed_tensors(graph, base, moved, packer);
  return packer.take();
}

bool fits_doubles(const TaskGraph& graph) {
  constexpr std::int64_t most = std::int64_t{1} << 51U;
  const auto& weights = graph.weights();
  std::int64_t sum = 0;
  const auto add = [&](std::int64_t value) {
    if (value < -most || value > most) return false;
    sum += std::abs(value);
    return sum <= most;
  };
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto& lags = (*weights.lag_ns)[i];
    if (!add((*weights.duration_ns)[i]) || !add((*weights.segment_ns)[i]) || !add(lags[0]) ||
        !add(lags[1])) {
      return false;
    }
  }
  return graph.topology().overflow.empty() ||
         std::all_of(weights.overflow_lag_ns->begin(), weights.overflow_lag_ns->end(), add);
}

}  // namespace foretrace
