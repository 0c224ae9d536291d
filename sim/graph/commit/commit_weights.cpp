// The cheap path of commit(): new columns for what changes, everything else shared.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "sim/graph/commit/commit_parts.h"
#include "sim/graph/commit/draft.h"

namespace foretrace::committing {

namespace {

/// Edits below this sum (11 days) cannot bring a checked graph near the limit of 64-bit times.
constexpr double harmless_total_ns = 1.0e15;

bool fits_slot(std::int64_t lag_ns) {
  return lag_ns >= std::numeric_limits<std::int32_t>::min() &&
         lag_ns <= std::numeric_limits<std::int32_t>::max();
}

struct LagColumns {
  std::vector<std::array<std::int32_t, 2>> slots;
  std::vector<std::int64_t> overflow;
};

/// False if a lag is too large for the slot that its dependency has.
bool edit_lags(const TaskGraph& graph, const Change& change, LagColumns& lags) {
  const Topology& topology = graph.topology();
  for (const LagEdit& edit : change.lags) {
    const auto& sources = topology.sources[index(edit.task)];
    const auto& kinds = topology.kinds[index(edit.task)];
    for (std::size_t slot = cause_slot; slot <= extra_slot; ++slot) {
      if (sources[slot] == no_point || kind_of(kinds[slot]) != edit.kind) continue;
      if (!fits_slot(edit.lag_ns)) return false;
      lags.slots[index(edit.task)][slot - 1] = static_cast<std::int32_t>(edit.lag_ns);
    }
    for (const OverflowDependency& row : topology.overflow_of(edit.task)) {
      const auto at = static_cast<std::size_t>(&row - topology.overflow.data());
      if (row.kind == edit.kind) lags.overflow[at] = edit.lag_ns;
    }
  }
  return true;
}

/// The waits behind lags, so that the next rebuild resolves them the same way. They change with the
/// lags, whether they mean anything at the moment or not.
bool edits_waits(const Change& change, const std::vector<Wait>& waits) {
  if (change.lags.empty()) return false;
  const LagEdits edits(change);
  return std::any_of(waits.begin(), waits.end(), [&edits](const Wait& wait) {
    return edits.lag(wait.task, wait.kind, wait.lag_ns) != wait.lag_ns;
  });
}
void edit_waits(const Change& change, std::vector<Wait>& waits) {
  const LagEdits edits(change);
  for (Wait& wait : waits) wait.lag_ns = edits.lag(wait.task, wait.kind, wait.lag_ns);
}

Status check_total(const Weights& weights) {
  double total = 0;
  for (const std::int64_t value : *weights.duration_ns) total += static_cast<double>(value);
  for (const std::int64_t value : *weights.segment_ns) {
    total += std::abs(static_cast<double>(value));
  }
  for (const std::int64_t value : *weights.overflow_lag_ns) {
    total += std::abs(static_cast<double>(value));
  }
  if (total <= max_total_ns) return ok_status();
  return Error{ErrorCode::bad_usage,
               fmt::format("durations, segments and lags add up to {:.3g} ns, expected at most "
                           "{:.3g}",
                           total, max_total_ns)};
}

double edited_total(const Change& change) {
  double total = 0;
  for (const DurationEdit& edit : change.durations) total += static_cast<double>(edit.duration_ns);
  for (const SegmentEdit& edit : change.segments) {
    total += std::abs(static_cast<double>(edit.segment_ns));
  }
  for (const LagEdit& edit : change.lags) total += std::abs(static_cast<double>(edit.lag_ns));
  return total;
}

/// Provenance and works.
std::shared_ptr<const TaskColumns> edit_columns(const TaskGraph& graph, const Change& change) {
  const auto worse = [&graph](const SegmentEdit& e) {
    return e.provenance > graph.provenance(e.task) && !keeps_time(graph, e);
  };
  const bool same =
      std::all_of(change.durations.begin(), change.durations.end(),
                  [&graph](const DurationEdit& e) {
                    return e.provenance == graph.provenance(e.task) || keeps_time(graph, e);
                  }) &&
      std::none_of(change.segments.begin(), change.segments.end(), worse);
  if (same && change.works.empty()) return graph.shared_columns();
  auto columns = std::make_shared<TaskColumns>(graph.columns());
  for (const WorkEdit& e : change.works) columns->work[index(e.task)] = e.work;
  for (const DurationEdit& e : change.durations) {
    if (!keeps_time(graph, e)) columns->provenance[index(e.task)] = e.provenance;
  }
  for (const SegmentEdit& e : change.segments) {
    if (keeps_time(graph, e)) continue;
    Provenance& provenance = columns->provenance[index(e.task)];
    provenance = std::max(provenance, e.provenance);
  }
  return columns;
}

template <typename Edits, typename Value>
SharedColumn<std::int64_t> edited(const SharedColumn<std::int64_t>& column, const Edits& edits,
                                  const Value& value) {
  if (edits.empty()) return column;
  auto result = std::make_shared<std::vector<std::int64_t>>(*column);
  for (const auto& edit : edits) (*result)[index(edit.task)] = value(edit);
  return result;
}

}  // namespace

Result<std::optional<Committed>> commit_weights(const TaskGraph& graph, const Change& change) {
  Weights weights = graph.weights();
  std::shared_ptr<const GraphContext> context = graph.shared_context();
  if (!change.lags.empty()) {
    LagColumns lags{*weights.lag_ns, *weights.overflow_lag_ns};
    if (!edit_lags(graph, change, lags)) return std::optional<Committed>{};
    weights.lag_ns =
        std::make_shared<const std::vector<std::array<std::int32_t, 2>>>(std::move(lags.slots));
    weights.overflow_lag_ns =
        std::make_shared<const std::vector<std::int64_t>>(std::move(lags.overflow));
  }
  weights.duration_ns = edited(weights.duration_ns, change.durations,
                               [](const DurationEdit& edit) { return edit.duration_ns; });
  weights.segment_ns = edited(weights.segment_ns, change.segments,
                              [](const SegmentEdit& edit) { return edit.segment_ns; });
  if (edited_total(change) > harmless_total_ns) {
    FORETRACE_TRY(check_total(weights));
  }
  const bool new_tensors = touches_tensors(graph, change);
  if (edits_waits(change, context->waits) || new_tensors || !change.policies.empty() ||
      !change.priorities.empty() || change.parameters != nullptr || !change.new_works.empty()) {
    auto copy = std::make_shared<GraphContext>(*context);
    apply_works(change, *copy);
    apply_policies(change, *copy);
    edit_waits(change, copy->waits);
    if (new_tensors) apply_tensors(graph, change, *copy);
    apply_parameters(change, *copy);
    context = std::move(copy);
  }
  Committed committed;
  committed.graph = TaskGraph(graph.shared_topology(), edit_columns(graph, change),
                              std::move(context), std::move(weights));
  for (const DurationEdit& edit : change.durations) keep_bounds(edit, edit.task, committed);
  return std::optional<Committed>(std::move(committed));
}

}  // namespace foretrace::committing
