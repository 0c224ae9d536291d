#include "sim/result/export/graph_columns.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <utility>

#include "sim/core/result.h"

namespace foretrace {
namespace {

using Figures = std::vector<std::int64_t>;

/// A figure of a column that is not 0, and where it stands.
struct StoredFigure {
  std::size_t at = 0;
  std::int64_t value = 0;
};

class ColumnPacker {
 public:
  void add(std::string_view name, const Figures& figures) {
    std::vector<StoredFigure>& stored = stored_;
    stored.clear();
    for (std::size_t i = 0; i < figures.size(); ++i) {
      if (figures[i] != 0) stored.push_back({i, figures[i]});
    }
    add(name, figures.size(), stored);
  }

  /// A column of `count` figures that are 0 but for these, in order.
  void add(std::string_view name, std::size_t count, std::span<const StoredFigure> stored) {
    std::int64_t unit = 0;
    for (const StoredFigure& each : stored) {
      unit = std::gcd(unit, each.value);
      if (unit == 1) break;
    }
    unit = std::max<std::int64_t>(unit, 1);
    const std::size_t offset = packed_.bytes.size();
    std::size_t next = 0;
    for (const StoredFigure& each : stored) {
      put_zeros(each.at - next);
      put_signed(unit == 1 ? each.value : each.value / unit);
      next = each.at + 1;
    }
    put_zeros(count - next);
    packed_.columns.push_back(
        {std::string(name), offset, packed_.bytes.size() - offset, count, unit});
  }
  [[nodiscard]] PackedGraph take() { return std::move(packed_); }

 private:
  void put_zeros(std::size_t count) {
    if (count == 0) return;
    put(0);
    put(count - 1);
  }

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
  std::vector<StoredFigure> stored_;  // of the column at hand
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

/// Figures of tasks of which a changed graph stores the difference: a column at a time,
/// visit(column(graph), parts), where each part is a name and the figure of a row.
template <typename Visit>
void visit_task_figures(Visit&& visit) {
  using Graph = TaskGraph;
  const auto figure = [](const auto& row) { return static_cast<std::int64_t>(row); };
  const auto plain = [&](std::string_view name, const auto& column) {
    visit(column, std::array{name}, std::tuple{figure});
  };
  plain(
      "lane", [](const Graph& g) -> auto& { return g.columns().lane; });
  plain(
      "work", [](const Graph& g) -> auto& { return g.columns().work; });
  plain(
      "phase", [](const Graph& g) -> auto& { return g.columns().phase; });
  plain(
      "layer", [](const Graph& g) -> auto& { return g.columns().layer; });
  plain(
      "provenance", [](const Graph& g) -> auto& { return g.columns().provenance; });
  plain(
      "step", [](const Graph& g) -> auto& { return g.columns().step; });
  using Kinds = std::array<std::uint8_t, 3>;
  const auto kind = [](const Kinds& row, Slot slot) {
    return static_cast<std::int64_t>(kind_of(row[slot]));
  };
  visit(
      [](const Graph& g) -> auto& { return g.topology().kinds; },
      std::array<std::string_view, 2>{"cause_kind", "extra_kind"},
      std::tuple{[kind](const Kinds& row) { return kind(row, cause_slot); },
                 [kind](const Kinds& row) { return kind(row, extra_slot); }});
  plain(
      "duration", [](const Graph& g) -> auto& { return *g.weights().duration_ns; });
  plain(
      "segment", [](const Graph& g) -> auto& { return *g.weights().segment_ns; });
  using Lags = std::array<std::int32_t, 2>;
  visit(
      [](const Graph& g) -> auto& { return *g.weights().lag_ns; },
      std::array<std::string_view, 2>{"cause_lag", "extra_lag"},
      std::tuple{[](const Lags& row) { return std::int64_t{row[0]}; },
                 [](const Lags& row) { return std::int64_t{row[1]}; }});
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

/// Columns of tensors: the differences to those that stood there in a base.
struct TensorColumns {
  static constexpr std::array<std::string_view, 10> names = {"tensor_allocated",
                                                             "tensor_freed",
                                                             "tensor_allocated_offset",
                                                             "tensor_freed_offset",
                                                             "tensor_allocated_sequence",
                                                             "tensor_freed_sequence",
                                                             "tensor_bytes",
                                                             "tensor_category",
                                                             "tensor_rank",
                                                             "tensor_device"};
  std::array<std::vector<StoredFigure>, names.size()> stored;

  /// What stands before a tensor that the base lacks: no task (so that these are stored plus 1),
  /// and zeros.
  static std::array<std::int64_t, names.size()> nothing() { return {-1, -1}; }

  /// `place(task)` is where a task is in the graph whose columns these are.
  template <typename Place>
  static std::array<std::int64_t, names.size()> figures(const TaskGraph& graph, const Tensor& t,
                                                        const Place& place) {
    return {place(t.allocated_in),
            place(t.freed_in),
            static_cast<std::int64_t>(t.allocated_offset_ns),
            static_cast<std::int64_t>(t.freed_offset_ns),
            static_cast<std::int64_t>(t.allocated_sequence),
            static_cast<std::int64_t>(t.freed_sequence),
            static_cast<std::int64_t>(t.bytes),
            static_cast<std::int64_t>(t.category),
            static_cast<std::int64_t>(graph.rank_of(t)),
            static_cast<std::int64_t>(t.device)};
  }

  void add(std::size_t at, const std::array<std::int64_t, names.size()>& now,
           const std::array<std::int64_t, names.size()>& was) {
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (now[k] != was[k]) stored[k].push_back({at, now[k] - was[k]});
    }
  }

  void pack(std::size_t count, ColumnPacker& packer) const {
    for (std::size_t k = 0; k < names.size(); ++k) packer.add(names[k], count, stored[k]);
  }
};

/// Tasks of a changed graph that follow each other as they did in its base; or inserted ones.
struct TaskStretch {
  std::size_t at = 0;
  TaskId was{};  ///< of the first one; none: they were inserted
  std::size_t count = 0;
};

std::vector<TaskStretch> stretches_of(std::size_t size, std::span<const TaskId> origin) {
  if (origin.empty()) return {{0, TaskId{}, size}};
  std::vector<TaskStretch> stretches;
  for (std::size_t i = 0; i < size; ++i) {
    const bool is_new = origin[i] == none<TaskId>;
    if (!stretches.empty()) {
      TaskStretch& last = stretches.back();
      const bool was_new = last.was == none<TaskId>;
      if (is_new ? was_new : !was_new && index(last.was) + last.count == index(origin[i])) {
        ++last.count;
        continue;
      }
    }
    stretches.push_back({i, origin[i], 1});
  }
  return stretches;
}

/// What a changed graph differs in from the one that it came from.
class VariantPacker {
 public:
  VariantPacker(const TaskGraph& graph, const TaskGraph& base, std::span<const TaskId> origin)
      : graph_(graph),
        base_(base),
        leaves_out_(origin.empty() && graph.shared_topology() == base.shared_topology()),
        stretches_(stretches_of(graph.size(), origin)) {
    moved_.assign(base.size(), -1);
    for (const TaskStretch& stretch : stretches_) {
      if (stretch.was == none<TaskId>) continue;
      std::iota(moved_.begin() + static_cast<std::ptrdiff_t>(index(stretch.was)),
                moved_.begin() + static_cast<std::ptrdiff_t>(index(stretch.was) + stretch.count),
                static_cast<std::int32_t>(stretch.at));
    }
  }

  PackedGraph run() {
    if (!leaves_out_) add_origin();
    visit_task_figures([this](const auto& column, const auto& names, const auto& figures) {
      add_rows(column(graph_), column(base_), names, figures);
    });
    if (!leaves_out_) {
      add_sources();
      add_overflow(graph_, packer_);
    } else if (graph_.weights().overflow_lag_ns != base_.weights().overflow_lag_ns) {
      packer_.add("overflow_lag", *graph_.weights().overflow_lag_ns);
    }
    add_tensors();
    return packer_.take();
  }

 private:
  template <std::size_t count>
  using Columns = std::array<std::vector<StoredFigure>, count>;

  void add_origin() {
    std::vector<StoredFigure> stored;
    std::int64_t expected = 0;
    for (const TaskStretch& stretch : stretches_) {
      if (stretch.was == none<TaskId>) {  // odd: inserted
        for (std::size_t i = 0; i < stretch.count; ++i) stored.push_back({stretch.at + i, 1});
        continue;
      }
      const auto was = static_cast<std::int64_t>(index(stretch.was));
      if (was != expected) stored.push_back({stretch.at, 2 * (was - expected)});
      expected = was + static_cast<std::int64_t>(stretch.count);
    }
    packer_.add("origin", graph_.size(), stored);
  }

  /// Rows that are alike are passed by the block: nearly all are.
  template <typename Row, std::size_t count, typename FigureOf>
  void add_rows(const std::vector<Row>& rows, const std::vector<Row>& old,
                const std::array<std::string_view, count>& names, const FigureOf& figures) {
    static_assert(std::has_unique_object_representations_v<Row>);
    constexpr std::size_t block = std::max<std::size_t>(1, 128 / sizeof(Row));
    Columns<count> stored;
    const auto put = [&](std::size_t at, const Row& row, const Row* was) {
      std::size_t k = 0;
      const auto put_one = [&](const auto& figure) {
        const std::int64_t difference = figure(row) - (was == nullptr ? 0 : figure(*was));
        if (difference != 0) stored[k].push_back({at, difference});
        ++k;
      };
      std::apply([&](const auto&... each) { (put_one(each), ...); }, figures);
    };
    for (const TaskStretch& stretch : stretches_) {
      const Row* const row = rows.data() + stretch.at;
      if (stretch.was == none<TaskId>) {
        for (std::size_t i = 0; i < stretch.count; ++i) put(stretch.at + i, row[i], nullptr);
        continue;
      }
      const Row* const was = old.data() + index(stretch.was);
      if (row == was) continue;  // shared
      for (std::size_t i = 0; i < stretch.count;) {
        const std::size_t end = std::min(stretch.count, i + block);
        if (std::memcmp(row + i, was + i, (end - i) * sizeof(Row)) == 0) {
          i = end;
          continue;
        }
        for (; i < end; ++i) put(stretch.at + i, row[i], was + i);
      }
    }
    for (std::size_t k = 0; k < count; ++k) {
      if (leaves_out_ && stored[k].empty()) continue;
      packer_.add(names[k], graph_.size(), stored[k]);
    }
  }

  /// As distances back, less those of the same sources of the base where they are now.
  void add_sources() {
    Columns<3> stored;
    const auto& sources = graph_.topology().sources;
    const auto& old = base_.topology().sources;
    for (const TaskStretch& stretch : stretches_) {
      const bool is_new = stretch.was == none<TaskId>;
      if (!is_new && sources.data() + stretch.at == old.data() + index(stretch.was)) continue;
      for (std::size_t i = stretch.at; i < stretch.at + stretch.count; ++i) {
        for (std::size_t slot = lane_slot; slot <= extra_slot; ++slot) {
          const Point point = sources[i][slot];
          const Point was = is_new ? no_point : old[index(stretch.was) + i - stretch.at][slot];
          const std::int64_t now = back_from(i, point_of(point));
          const std::int64_t difference = now - back_from(i, moved(was));
          if (difference != 0) stored[slot].push_back({i, difference});
        }
      }
    }
    for (const auto& [name, slot] : source_slots) packer_.add(name, graph_.size(), stored[slot]);
  }

  /// Where a point of the base is now; -1: gone.
  [[nodiscard]] std::int64_t moved(Point point) const {
    if (point == no_point) return -1;
    const std::int64_t task = moved_[index(task_of(point))];
    return task < 0 ? -1 : 2 * task + (is_end(point) ? 1 : 0);
  }
  [[nodiscard]] std::int64_t moved(TaskId task) const {
    return task == none<TaskId> ? -1 : moved_[index(task)];
  }

  void add_tensors() {
    const std::vector<Tensor>& tensors = graph_.context().tensors;
    const std::vector<Tensor>& old = base_.context().tensors;
    TensorColumns columns;
    const bool is_shared = tensors.data() == old.data() && stretches_.size() == 1 &&
                           graph_.shared_columns() == base_.shared_columns();
    const auto place = [this](TaskId task) { return moved(task); };
    for (std::size_t i = 0; i < tensors.size() && !is_shared; ++i) {
      columns.add(
          i, TensorColumns::figures(graph_, tensors[i], task_of_id),
          i < old.size() ? TensorColumns::figures(base_, old[i], place) : TensorColumns::nothing());
    }
    const bool all_alike =
        tensors.size() == old.size() &&
        std::ranges::all_of(columns.stored, [](const auto& rows) { return rows.empty(); });
    if (leaves_out_ && all_alike) return;
    columns.pack(tensors.size(), packer_);
  }

  const TaskGraph& graph_;
  const TaskGraph& base_;
  bool leaves_out_;  ///< what is as in the base
  std::vector<TaskStretch> stretches_;
  std::vector<std::int32_t> moved_;  // where the tasks of the base are now; -1: gone
  ColumnPacker packer_;
};

}  // namespace

PackedGraph pack_graph(const TaskGraph& graph) {
  ColumnPacker packer;
  const std::size_t size = graph.size();
  Figures figures(size);
  visit_task_figures([&](const auto& column, const auto& names, const auto& figures_of) {
    std::size_t k = 0;
    const auto add = [&](const auto& figure) {
      const auto& rows = column(graph);
      for (std::size_t i = 0; i < size; ++i) figures[i] = figure(rows[i]);
      packer.add(names[k++], figures);
    };
    std::apply([&](const auto&... each) { (add(each), ...); }, figures_of);
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
  TensorColumns tensors;
  const std::vector<Tensor>& all = graph.context().tensors;
  for (std::size_t i = 0; i < all.size(); ++i) {
    tensors.add(i, TensorColumns::figures(graph, all[i], task_of_id), TensorColumns::nothing());
  }
  tensors.pack(all.size(), packer);
  return packer.take();
}

PackedGraph pack_variant(const TaskGraph& graph, const TaskGraph& base,
                         std::span<const TaskId> origin) {
  FORETRACE_CHECK(origin.empty() ? graph.size() == base.size() : origin.size() == graph.size());
  return VariantPacker(graph, base, origin).run();
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
