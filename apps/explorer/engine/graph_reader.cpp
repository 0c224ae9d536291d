#include "apps/explorer/engine/graph_reader.h"

#include <algorithm>
#include <array>
#include <bit>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <string_view>
#include <type_traits>
#include <utility>

#include "apps/explorer/engine/column_reader.h"

namespace foretrace::explorer {
namespace {

/// Tasks that follow each other as they did in the base; or inserted ones.
struct Stretch {
  std::size_t at = 0;
  TaskId was{};  ///< of the first one; none: they were inserted
  std::size_t count = 0;
};

/// Works in the same places do the same kinds of work.
bool are_alike(const std::vector<Work>& a, const std::vector<Work>& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(),
                    [](const Work& x, const Work& y) { return x.kind == y.kind; });
}

class GraphReader {
 public:
  /// `base`: of a whole graph the empty one.
  GraphReader(const PackedGraph& packed, const TaskGraph& base, GraphContext context)
      : reader_(packed), base_(base), context_(std::move(context)) {}

  Result<HeldColumns> run(bool is_whole) {
    is_whole_ = is_whole;
    std::vector<TaskId> origin = read_tasks();
    if (reader_.is_damaged()) return damaged();
    const auto columns = read_columns();
    if (reader_.is_damaged()) return damaged();
    const auto topology = read_topology(*columns);
    Weights weights = read_weights(*topology);
    read_parts();
    read_tensors();
    check_steps();
    if (reader_.is_damaged()) return damaged();
    return HeldColumns{
        TaskGraph(topology, columns, std::make_shared<const GraphContext>(std::move(context_)),
                  std::move(weights)),
        std::move(origin)};
  }

 private:
  static Error damaged() { return {ErrorCode::bad_format, "the block is damaged"}; }

  /// How many tasks there are, and where they come from.
  std::vector<TaskId> read_tasks() {
    std::vector<TaskId> origin;
    moved_.assign(base_.size(), none<TaskId>);
    if (is_whole_) {
      size_ = reader_.rows("lane");
      stretches_ = {{0, none<TaskId>, size_}};
    } else if (!reader_.has("origin")) {
      size_ = base_.size();
      stretches_ = {{0, TaskId{}, size_}};
      for (std::size_t i = 0; i < size_; ++i) moved_[i] = make_id<TaskId>(i);
    } else {
      size_ = reader_.rows("origin");
      origin = read_origin();
    }
    return origin;
  }

  std::vector<TaskId> read_origin() {
    std::vector<std::int64_t> stored(size_);
    reader_.add("origin", stored);
    std::vector<TaskId> origin(size_, none<TaskId>);
    std::int64_t expected = 0;
    for (std::size_t i = 0; i < size_ && !reader_.is_damaged(); ++i) {
      const bool is_new = stored[i] == 1;
      const std::int64_t was = expected + stored[i] / 2;
      const bool follows = i > 0 && stored[i] == (is_new ? 1 : 0) &&
                           (stretches_.back().was == none<TaskId>) == is_new;
      if (!follows)
        stretches_.push_back(
            {i, is_new ? none<TaskId> : make_id<TaskId>(static_cast<std::size_t>(was)), 0});
      ++stretches_.back().count;
      if (is_new) continue;
      reader_.expect(was >= 0 && was < static_cast<std::int64_t>(base_.size()));
      if (reader_.is_damaged()) break;
      origin[i] = make_id<TaskId>(static_cast<std::size_t>(was));
      moved_[index(origin[i])] = make_id<TaskId>(i);
      expected = was + 1;
    }
    return origin;
  }

  /// A column of the base with its tasks where they are now; what was inserted is 0.
  template <typename T>
  [[nodiscard]] std::vector<T> placed(const std::vector<T>& old) const {
    std::vector<T> rows(size_);
    for (const Stretch& stretch : stretches_) {
      if (stretch.was == none<TaskId>) continue;
      std::copy_n(old.begin() + static_cast<std::ptrdiff_t>(index(stretch.was)), stretch.count,
                  rows.begin() + static_cast<std::ptrdiff_t>(stretch.at));
    }
    return rows;
  }

  /// As placed(), with the figures of a column added; shared where there are none.
  template <typename T>
  SharedColumn<T> read_shared(std::string_view name, const SharedColumn<T>& old) {
    if (!moves() && !reader_.has(name)) return old;
    std::vector<T> rows = placed(*old);
    reader_.add(name, rows);
    return std::make_shared<const std::vector<T>>(std::move(rows));
  }

  [[nodiscard]] bool moves() const { return is_whole_ || reader_.has("origin"); }
  [[nodiscard]] bool has_any(std::initializer_list<std::string_view> names) const {
    return std::any_of(names.begin(), names.end(), [&](auto name) { return reader_.has(name); });
  }

  std::shared_ptr<const TaskColumns> read_columns() {
    const bool has_works = are_alike(context_.works, base_.context().works);
    if (!moves() && has_works &&
        !has_any({"lane", "work", "phase", "layer", "provenance", "step"})) {
      return base_.shared_columns();
    }
    const TaskColumns& old = base_.columns();
    auto columns = std::make_shared<TaskColumns>();
    const auto read = [&](std::string_view name, const auto& was, auto& rows) {
      rows = placed(was);
      reader_.add(name, rows);
    };
    read("lane", old.lane, columns->lane);
    read("work", old.work, columns->work);
    read("phase", old.phase, columns->phase);
    read("layer", old.layer, columns->layer);
    read("provenance", old.provenance, columns->provenance);
    read("step", old.step, columns->step);
    columns->kind.resize(size_);
    const auto is_below = [](std::size_t at, std::size_t count) { return at < count; };
    const auto steps = static_cast<std::int64_t>(context_.steps.size());
    for (std::size_t i = 0; i < size_ && !reader_.is_damaged(); ++i) {
      reader_.expect(is_below(index(columns->lane[i]), context_.lanes.size()) &&
                     is_below(index(columns->work[i]), context_.works.size()) &&
                     is_below(static_cast<std::size_t>(columns->phase[i]), phase_count) &&
                     columns->step[i] >= -1 && columns->step[i] < steps);
      if (!reader_.is_damaged()) columns->kind[i] = context_.works[index(columns->work[i])].kind;
    }
    return columns;
  }

  /// A point so far back from the end of a task; 0: none.
  Point point_at(std::size_t task, std::int64_t back) {
    if (back == 0) return no_point;
    const auto end = 2 * static_cast<std::int64_t>(task) + 1;
    reader_.expect(back > 1 && back <= end);
    return Point{static_cast<std::uint32_t>(end - back)};
  }

  /// Where a point of the base is now, as a distance back.
  [[nodiscard]] std::int64_t back_of(std::size_t task, Point was) const {
    if (was == no_point) return 0;
    const TaskId now = moved_[index(task_of(was))];
    if (now == none<TaskId>) return 0;
    const Point point = is_end(was) ? end_of(now) : start_of(now);
    return 2 * static_cast<std::int64_t>(task) + 1 - static_cast<std::int64_t>(index(point));
  }

  std::shared_ptr<const Topology> read_topology(const TaskColumns& columns) {
    if (!moves()) return base_.shared_topology();
    auto topology = std::make_shared<Topology>();
    read_sources(columns, *topology);
    topology->kinds = placed(base_.topology().kinds);
    for (const auto& [name, slot] :
         {std::pair{"cause_kind", cause_slot}, {"extra_kind", extra_slot}}) {
      reader_.each(name, size_, [&, slot = slot](std::size_t i, std::int64_t figure) {
        std::uint8_t& kind = topology->kinds[i][slot];
        kind = static_cast<std::uint8_t>(kind + figure);
      });
    }
    read_overflow(*topology);
    topology->forward_offsets.assign(size_ + 1, 0);
    if (!reader_.is_damaged()) topology->index_overflow();
    return topology;
  }

  void read_sources(const TaskColumns& columns, Topology& topology) {
    const auto& old = base_.topology().sources;
    std::vector<std::array<std::int64_t, 3>> back(size_);
    for (const Stretch& stretch : stretches_) {
      if (stretch.was == none<TaskId>) continue;
      for (std::size_t i = stretch.at; i < stretch.at + stretch.count; ++i) {
        for (std::size_t slot = lane_slot; slot <= extra_slot; ++slot) {
          back[i][slot] = back_of(i, old[index(stretch.was) + i - stretch.at][slot]);
        }
      }
    }
    std::size_t slot = lane_slot;
    for (const std::string_view name : {"lane_source", "cause_source", "extra_source"}) {
      reader_.each(name, size_,
                   [&](std::size_t i, std::int64_t figure) { back[i][slot] += figure; });
      ++slot;
    }
    if (is_whole_) read_lane_order(columns, back);
    topology.sources.resize(size_);
    for (std::size_t i = 0; i < size_ && !reader_.is_damaged(); ++i) {
      for (slot = lane_slot; slot <= extra_slot; ++slot) {
        topology.sources[i][slot] = point_at(i, back[i][slot]);
      }
    }
  }

  /// Of a whole graph 0 is the task before on the lane, and everything else is more by one.
  void read_lane_order(const TaskColumns& columns,
                       std::vector<std::array<std::int64_t, 3>>& back) const {
    std::vector<std::int64_t> last(context_.lanes.size(), -1);
    for (std::size_t i = 0; i < size_; ++i) {
      const auto end = 2 * static_cast<std::int64_t>(i) + 1;
      std::int64_t& before = last[index(columns.lane[i])];
      std::int64_t& own = back[i][lane_slot];
      if (own != 0)
        own -= 1;
      else if (before >= 0)
        own = end - before;
      before = end;
    }
  }

  void read_overflow(Topology& topology) {
    topology.overflow.resize(reader_.rows("overflow_task"));
    auto& rows = topology.overflow;
    std::vector<std::int64_t> task(rows.size());
    reader_.add("overflow_task", task);
    std::partial_sum(task.begin(), task.end(), task.begin());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      reader_.expect(task[i] >= (i == 0 ? 0 : task[i - 1]) &&
                     task[i] < static_cast<std::int64_t>(size_));
      rows[i].task = make_id<TaskId>(static_cast<std::size_t>(task[i]));
    }
    if (reader_.is_damaged()) return;
    const auto each = [&](std::string_view name, auto set) {
      reader_.each(name, rows.size(),
                   [&](std::size_t i, std::int64_t figure) { set(rows[i], figure); });
    };
    each("overflow_source",
         [&](auto& row, auto back) { row.source = point_at(index(row.task), back); });
    each("overflow_late",
         [&](auto& row, auto back) { row.late_after = point_at(index(row.task), back); });
    each("overflow_fraction", [](auto& row, auto bits) {
      row.fraction = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    });
    each("overflow_kind",
         [](auto& row, auto kind) { row.kind = static_cast<DependencyKind>(kind); });
  }

  Weights read_weights(const Topology& topology) {
    const Weights& old = base_.weights();
    Weights weights = {read_shared("duration", old.duration_ns),
                       read_shared("segment", old.segment_ns), old.lag_ns, old.overflow_lag_ns};
    if (moves() || has_any({"cause_lag", "extra_lag"})) {
      auto lags = placed(*old.lag_ns);
      for (const auto& [name, slot] : {std::pair{"cause_lag", 0U}, {"extra_lag", 1U}}) {
        reader_.each(name, size_, [&, slot = slot](std::size_t i, std::int64_t figure) {
          lags[i][slot] = static_cast<std::int32_t>(lags[i][slot] + figure);
        });
      }
      weights.lag_ns =
          std::make_shared<const std::vector<std::array<std::int32_t, 2>>>(std::move(lags));
    }
    if (moves() || reader_.has("overflow_lag")) {
      std::vector<std::int64_t> lags(topology.overflow.size());
      reader_.add("overflow_lag", lags);
      weights.overflow_lag_ns = std::make_shared<const std::vector<std::int64_t>>(std::move(lags));
    }
    reader_.expect(weights.overflow_lag_ns->size() == topology.overflow.size());
    return weights;
  }

  /// Of the recorded graph alone: a changed one has those of the tasks that it kept.
  void read_parts() {
    std::vector<SegmentPart>& parts = context_.segment_parts;
    parts.resize(reader_.rows("part_task"));
    std::vector<std::int64_t> task(parts.size());
    reader_.add("part_task", task);
    std::partial_sum(task.begin(), task.end(), task.begin());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      reader_.expect(task[i] >= (i == 0 ? 0 : task[i - 1]) &&
                     task[i] < static_cast<std::int64_t>(size_));
      parts[i].task = make_id<TaskId>(static_cast<std::size_t>(task[i]));
    }
    reader_.each("part_label", parts.size(), [&](std::size_t i, std::int64_t figure) {
      parts[i].label = static_cast<NameId>(figure);
    });
    reader_.each("part_duration", parts.size(),
                 [&](std::size_t i, std::int64_t figure) { parts[i].duration_ns = figure; });
  }

  void read_tensors() {
    std::vector<Tensor>& tensors = context_.tensors;
    tensors = base_.context().tensors;
    if (!reader_.has("tensor_bytes")) return;
    tensors.resize(reader_.rows("tensor_bytes"), {.rank = 0});
    const std::size_t known = base_.context().tensors.size();
    for (std::size_t i = 0; i < std::min(known, tensors.size()); ++i) {
      for (TaskId* const task : {&tensors[i].allocated_in, &tensors[i].freed_in}) {
        if (*task != none<TaskId>) *task = moved_[index(*task)];
      }
    }
    const auto each = [&](std::string_view name, auto member) {
      reader_.each(name, tensors.size(), [&](std::size_t i, std::int64_t figure) {
        auto& value = tensors[i].*member;
        using Value = std::remove_reference_t<decltype(value)>;
        value = static_cast<Value>(static_cast<std::int64_t>(value) + figure);
      });
    };
    // no task is -1 in columns and the largest of 32 bits here, which adds up alike
    each("tensor_allocated", &Tensor::allocated_in);
    each("tensor_freed", &Tensor::freed_in);
    each("tensor_allocated_offset", &Tensor::allocated_offset_ns);
    each("tensor_freed_offset", &Tensor::freed_offset_ns);
    each("tensor_allocated_sequence", &Tensor::allocated_sequence);
    each("tensor_freed_sequence", &Tensor::freed_sequence);
    each("tensor_bytes", &Tensor::bytes);
    each("tensor_category", &Tensor::category);
    each("tensor_rank", &Tensor::rank);
    each("tensor_device", &Tensor::device);
    const auto is_task = [&](TaskId task) { return task == none<TaskId> || index(task) < size_; };
    for (const Tensor& tensor : tensors) {
      reader_.expect(is_task(tensor.allocated_in) && is_task(tensor.freed_in) &&
                     static_cast<std::size_t>(tensor.category) < tensor_category_count);
    }
  }

  void check_steps() {
    for (const Step& step : context_.steps) {
      reader_.expect(index(step.begin) < size_ && index(step.end) < size_);
    }
  }

  ColumnReader reader_;
  const TaskGraph& base_;
  GraphContext context_;
  bool is_whole_ = false;
  std::size_t size_ = 0;
  std::vector<Stretch> stretches_;
  std::vector<TaskId> moved_;  // where the tasks of the base are now
};

}  // namespace

Result<HeldColumns> read_graph(const PackedGraph& packed, GraphContext context) {
  return GraphReader(packed, TaskGraph(), std::move(context)).run(true);
}

Result<HeldColumns> read_variant(const PackedGraph& packed, const TaskGraph& base,
                                 GraphContext context) {
  return GraphReader(packed, base, std::move(context)).run(false);
}

}  // namespace foretrace::explorer
