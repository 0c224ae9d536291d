// Slots, overflow list and forward CSR of a checked draft in topological order.
#include "sim/graph/commit/assemble.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

namespace foretrace::committing {

namespace {

struct OverflowRow {
  OverflowDependency row;
  std::int64_t lag_ns = 0;
};

/// Fills slots as dependencies come: the first one, or the first launch, is the cause; the second
/// one takes the extra slot; everything else, and what no slot can hold, overflows.
class SlotFiller {
 public:
  SlotFiller(Topology& topology, std::vector<std::array<std::int32_t, 2>>& lag_ns)
      : topology_(topology), lag_ns_(lag_ns) {}

  void add(const Dependency& d, bool symbolic) {
    const auto stored = static_cast<std::uint8_t>(static_cast<std::uint8_t>(d.kind) |
                                                  (symbolic ? Topology::symbolic_bit : 0U));
    if (!fits_slot(d)) return overflow(d, symbolic);
    auto& sources = topology_.sources[index(d.task)];
    auto& kinds = topology_.kinds[index(d.task)];
    auto& lags = lag_ns_[index(d.task)];
    const auto put = [&](std::size_t slot) {
      sources[slot] = d.source;
      kinds[slot] = stored;
      lags[slot - 1] = static_cast<std::int32_t>(d.lag_ns);
    };
    if (sources[cause_slot] == no_point) return put(cause_slot);
    const bool takes_cause =
        d.kind == DependencyKind::launch && kind_of(kinds[cause_slot]) != DependencyKind::launch;
    if (!takes_cause) {
      if (sources[extra_slot] == no_point) return put(extra_slot);
      return overflow(d, symbolic);
    }
    if (sources[extra_slot] == no_point) {
      sources[extra_slot] = sources[cause_slot];
      kinds[extra_slot] = kinds[cause_slot];
      lags[1] = lags[0];
    } else {
      overflow({sources[cause_slot], d.task, kind_of(kinds[cause_slot]), lags[0], 0.0F, no_point},
               is_symbolic(kinds[cause_slot]));
    }
    put(cause_slot);
  }

  /// Hands over the overflow list, sorted by task and source.
  [[nodiscard]] std::vector<std::int64_t> finish() {
    std::stable_sort(rows_.begin(), rows_.end(), [](const OverflowRow& a, const OverflowRow& b) {
      return a.row.task != b.row.task ? a.row.task < b.row.task
                                      : task_of(a.row.source) < task_of(b.row.source);
    });
    std::vector<std::int64_t> lags;
    lags.reserve(rows_.size());
    topology_.overflow.reserve(rows_.size());
    for (const OverflowRow& row : rows_) {
      topology_.overflow.push_back(row.row);
      lags.push_back(row.lag_ns);
    }
    return lags;
  }

 private:
  static bool fits_slot(const Dependency& d) {
    return d.fraction == 0.0F && d.late_after == no_point &&
           d.lag_ns >= std::numeric_limits<std::int32_t>::min() &&
           d.lag_ns <= std::numeric_limits<std::int32_t>::max();
  }
  void overflow(const Dependency& d, bool symbolic) {
    rows_.push_back({{d.task, d.source, d.late_after, d.fraction, d.kind, symbolic}, d.lag_ns});
  }

  Topology& topology_;
  std::vector<std::array<std::int32_t, 2>>& lag_ns_;
  std::vector<OverflowRow> rows_;
};

void link_lanes(const Draft& draft, Topology& topology) {
  const std::vector<Lane>& lanes = draft.context.lanes;
  std::vector<Point> tail(lanes.size(), no_point);
  std::vector<std::uint8_t> kind(lanes.size());
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    kind[lane] =
        static_cast<std::uint8_t>(is_stream_like(lanes[lane].kind) ? DependencyKind::stream_order
                                                                   : DependencyKind::program_order);
  }
  for (std::size_t t = 0; t < draft.size(); ++t) {
    const std::size_t lane = index(draft.columns.lane[t]);
    topology.sources[t][lane_slot] = tail[lane];
    if (tail[lane] != no_point) topology.kinds[t][lane_slot] = kind[lane];
    tail[lane] = end_of(make_id<TaskId>(t));
  }
}

template <typename Visit>
void for_each_successor(const Topology& topology, const Visit& visit) {
  auto row = topology.overflow.begin();
  for (std::size_t t = 0; t < topology.sources.size(); ++t) {
    const auto task = static_cast<std::uint32_t>(t);
    for (std::uint32_t slot = 0; slot < overflow_slot; ++slot) {
      const Point source = topology.sources[t][slot];
      if (source != no_point) visit(task_of(source), (task << 2U) | slot);
    }
    for (; row != topology.overflow.end() && index(row->task) == t; ++row) {
      visit(task_of(row->source), (task << 2U) | overflow_slot);
    }
  }
}

void link_forward(Topology& topology) {
  std::vector<std::uint32_t>& offsets = topology.forward_offsets;
  offsets.assign(topology.sources.size() + 1, 0);
  for_each_successor(topology, [&](TaskId source, std::uint32_t) { ++offsets[index(source) + 1]; });
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  topology.forward.resize(offsets.back());
  std::vector<std::uint32_t> next(offsets.begin(), offsets.end() - 1);
  for_each_successor(topology, [&](TaskId source, std::uint32_t entry) {
    topology.forward[next[index(source)]++] = entry;
  });
}

}  // namespace

TaskGraph assemble(Draft draft) {
  const std::vector<TaskId> launch_of = launches(draft);
  const std::vector<Dependency> waits = resolve_waits(draft);
  const std::vector<QueueLimit> queues = resolve_queues(draft, launch_of);
  const bool launch_order_fixed = launch_order_is_fixed(draft, launch_of);

  if (draft.slots.sources.empty()) draft.slots = Slots(draft.size());
  Topology topology;
  topology.launch_order_fixed = launch_order_fixed;
  topology.sources = std::move(draft.slots.sources);
  topology.kinds = std::move(draft.slots.kinds);
  std::vector<std::array<std::int32_t, 2>> lag_ns = std::move(draft.slots.lag_ns);
  link_lanes(draft, topology);
  SlotFiller filler(topology, lag_ns);
  for (const Dependency& d : draft.dependencies) filler.add(d, false);
  for (const Dependency& d : waits) filler.add(d, true);
  for (const QueueLimit& limit : queues) {
    filler.add({start_of(limit.leaving), limit.launch, DependencyKind::queue}, true);
  }
  std::vector<std::int64_t> overflow_lag_ns = filler.finish();
  topology.index_overflow();
  link_forward(topology);

  Weights weights;
  weights.duration_ns =
      std::make_shared<const std::vector<std::int64_t>>(std::move(draft.duration_ns));
  weights.segment_ns =
      std::make_shared<const std::vector<std::int64_t>>(std::move(draft.segment_ns));
  weights.lag_ns =
      std::make_shared<const std::vector<std::array<std::int32_t, 2>>>(std::move(lag_ns));
  weights.overflow_lag_ns =
      std::make_shared<const std::vector<std::int64_t>>(std::move(overflow_lag_ns));
  return {std::make_shared<const Topology>(std::move(topology)),
          std::make_shared<const TaskColumns>(std::move(draft.columns)),
          std::make_shared<const GraphContext>(std::move(draft.context)), std::move(weights)};
}

}  // namespace foretrace::committing
