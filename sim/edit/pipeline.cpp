// Stacks several changes in a stated order.
#include "sim/edit/pipeline.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "sim/graph/validate.h"

namespace foretrace {

namespace {

constexpr std::uint32_t untouched = 0xFFFFFFFFU;

/// Calls visit(task) for every task that a change edits, by the ids of the change.
template <typename Visit>
void for_each_edited(const Change& change, const Visit& visit) {
  for (const auto& edit : change.durations) visit(edit.task);
  for (const auto& edit : change.segments) visit(edit.task);
  for (const auto& edit : change.lags) visit(edit.task);
  for (const auto& edit : change.removed) visit(edit.task);
  for (const auto& edit : change.moved) visit(edit.task);
  for (const auto& edit : change.reordered) visit(edit.task);
}

/// Follows ids and bounds from stage to stage.
class Tracker {
 public:
  explicit Tracker(const TaskGraph& graph) : touched_by_(graph.size(), untouched) {}

  std::vector<Overlap> touch(const Change& change, std::uint32_t stage) {
    std::vector<std::size_t> counts(stage, 0);
    std::vector<std::uint32_t> now = touched_by_;
    now.resize(touched_by_.size() + change.inserted.size(), stage);
    for_each_edited(change, [&](TaskId task) {
      std::uint32_t& last = now[index(task)];
      if (last < stage) ++counts[last];
      last = stage;
    });
    touched_by_ = std::move(now);
    std::vector<Overlap> overlaps;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] > 0) overlaps.push_back({i, counts[i]});
    }
    return overlaps;
  }

  void follow(const Change& change, const Committed& committed, Stacked& stacked) {
    std::vector<float> low = carried(stacked.low, committed);
    std::vector<float> high = carried(stacked.high, committed);
    for (const DurationEdit& edit : change.durations) {
      const TaskId task = committed.new_id.empty() ? edit.task : committed.new_id[index(edit.task)];
      const bool anew = edit.provenance != Provenance::scaled;
      const bool plain = edit.low == 1.0F && edit.high == 1.0F;
      if (low.empty() && plain) continue;
      if (low.empty()) low.assign(committed.graph.size(), 1.0F);
      if (high.empty()) high.assign(committed.graph.size(), 1.0F);
      low[index(task)] = edit.low * (anew ? 1.0F : low[index(task)]);
      high[index(task)] = edit.high * (anew ? 1.0F : high[index(task)]);
    }
    stacked.low = std::move(low);
    stacked.high = std::move(high);
    if (committed.new_id.empty()) return;
    follow_ids(committed, stacked);
  }

 private:
  [[nodiscard]] static std::vector<float> carried(const std::vector<float>& bounds,
                                                  const Committed& committed) {
    if (bounds.empty() || committed.new_id.empty()) return bounds;
    std::vector<float> result(committed.graph.size(), 1.0F);
    for (std::size_t t = 0; t < bounds.size(); ++t) {
      const TaskId id = committed.new_id[t];
      if (id != none<TaskId>) result[index(id)] = bounds[t];
    }
    return result;
  }

  void follow_ids(const Committed& committed, Stacked& stacked) {
    std::vector<std::uint32_t> touched(committed.graph.size(), untouched);
    for (std::size_t t = 0; t < touched_by_.size(); ++t) {
      const TaskId id = committed.new_id[t];
      if (id != none<TaskId>) touched[index(id)] = touched_by_[t];
    }
    touched_by_ = std::move(touched);
    if (stacked.new_id.empty()) {
      stacked.new_id.assign(
          committed.new_id.begin(),
          committed.new_id.begin() + static_cast<std::ptrdiff_t>(stacked.graph.size()));
      return;
    }
    for (TaskId& id : stacked.new_id) {
      if (id != none<TaskId>) id = committed.new_id[index(id)];
    }
  }

  std::vector<std::uint32_t> touched_by_;  // per task: the last stage that changed it
};

}  // namespace

Result<Stacked> stack(const TaskGraph& graph, std::span<const EditStage> stages, Checks checks) {
  Stacked stacked;
  stacked.graph = graph;
  Tracker tracker(graph);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const std::string where =
        fmt::format("stage '{}' ({} of {})", stages[i].name, i + 1, stages.size());
    FORETRACE_TRY(auto change, stages[i].apply(stacked.graph).with_context(where));
    FORETRACE_TRY(auto committed, commit(stacked.graph, change, checks).with_context(where));
    FORETRACE_TRY(validate(committed.graph).with_context(where));
    StageReport report;
    report.name = stages[i].name;
    report.tasks_changed = change.tasks_changed(stacked.graph);
    report.tasks_after = committed.graph.size();
    report.topology_changed = change.changes_topology();
    report.overlaps = tracker.touch(change, static_cast<std::uint32_t>(i));
    report.notes = change.notes;
    tracker.follow(change, committed, stacked);
    stacked.graph = std::move(committed.graph);
    stacked.stages.push_back(std::move(report));
  }
  return stacked;
}

}  // namespace foretrace
