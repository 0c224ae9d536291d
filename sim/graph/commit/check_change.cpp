// What a change may not say: unknown ids, contradictions, edits of tasks that it removes.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "sim/graph/commit/commit_parts.h"
#include "sim/graph/commit/draft.h"
#include "sim/graph/commit/known_tasks.h"

namespace foretrace::committing {

namespace {

/// The second of two edits with one key and different content, or null.
template <typename Edit, typename Key, typename Same>
const Edit* contradiction(const std::vector<Edit>& edits, const Key& key, const Same& same) {
  bool ascending = true;
  for (std::size_t i = 1; i < edits.size(); ++i) {
    ascending = ascending && key(edits[i - 1]) < key(edits[i]);
  }
  if (ascending) return nullptr;
  std::vector<std::uint32_t> order(edits.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return key(edits[a]) < key(edits[b]); });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const Edit& before = edits[order[i - 1]];
    const Edit& edit = edits[order[i]];
    if (key(before) == key(edit) && !same(before, edit)) return &edit;
  }
  return nullptr;
}

class Checker : private KnownTasks {
 public:
  Checker(const TaskGraph& graph, const Change& change) : KnownTasks(graph, change) {}

  Result<std::vector<Fate>> run() {
    if (known_ > max_tasks) {
      return bad(fmt::format("the change makes {} tasks, expected at most {}", known_, max_tasks));
    }
    for (const auto check :
         {&Checker::removals, &Checker::works, &Checker::insertions, &Checker::durations,
          &Checker::segments, &Checker::lags, &Checker::descriptions, &Checker::moves,
          &Checker::reorderings, &Checker::lane_edits, &Checker::priorities}) {
      FORETRACE_TRY((this->*check)());
    }
    FORETRACE_TRY(check_links(*this));
    return std::move(fate_);
  }

 private:
  template <typename Edit, typename Same>
  [[nodiscard]] Status agree(const std::vector<Edit>& edits, const char* what,
                             const Same& same) const {
    const Edit* edit = contradiction(
        edits, [](const Edit& e) { return index(e.task); }, same);
    if (edit == nullptr) return ok_status();
    return bad(fmt::format("{}: two different ones for {}", what, name(edit->task)));
  }

  Status removals() {
    if (!change_.removed.empty()) fate_.assign(known_, Fate::kept);
    for (const Removal& r : change_.removed) {
      if (index(r.task) >= graph_.size() && index(r.task) < known_) {
        return bad(fmt::format("removal: {} is inserted by the same change", name(r.task)));
      }
      FORETRACE_TRY(exists(r.task, "removal"));
      fate_[index(r.task)] =
          r.segment == SegmentOf::take ? Fate::removed_with_segment : Fate::removed;
    }
    return agree(change_.removed, "removal",
                 [](const Removal& a, const Removal& b) { return a.segment == b.segment; });
  }

  Status works() {
    const std::size_t names = change_.names.size();
    for (const Work& work : change_.new_works) {
      for (const NameId id : {work.name, work.operator_name, work.shapes, work.types}) {
        if (index(id) >= names) {
          return bad(fmt::format("new work: name {} does not exist, got {} names in the change",
                                 index(id), names));
        }
      }
    }
    return ok_status();
  }

  Status insertions() {
    const GraphContext& context = graph_.context();
    const std::size_t works = context.works.size() + change_.new_works.size();
    for (std::size_t i = 0; i < change_.inserted.size(); ++i) {
      const Insertion& insertion = change_.inserted[i];
      const TaskSpec& spec = insertion.task;
      if (index(insertion.anchor) >= graph_.size() + i) {
        return bad(fmt::format("insertion {}: anchor {} is not an earlier task", i,
                               index(insertion.anchor)));
      }
      FORETRACE_TRY(lane_exists(spec.lane, "insertion"));
      if (index(spec.work) >= works || index(spec.layer) >= context.layers.size()) {
        return bad(fmt::format("insertion {}: work {} or layer {} does not exist", i,
                               index(spec.work), index(spec.layer)));
      }
      if (spec.step < -1 || spec.step >= static_cast<std::int64_t>(context.steps.size())) {
        return bad(fmt::format("insertion {}: step index {} does not exist", i, spec.step));
      }
    }
    return ok_status();
  }

  Status durations() {
    for (const DurationEdit& edit : change_.durations) {
      FORETRACE_TRY(stays(edit.task, "duration edit"));
      if (edit.duration_ns < 0) {
        return bad(fmt::format("duration edit: {} gets {} ns, expected at least 0", name(edit.task),
                               edit.duration_ns));
      }
      if (!(edit.low >= 0.0F && edit.low <= edit.high && std::isfinite(edit.high))) {
        return bad(fmt::format("duration edit: {} has bounds {} to {}, expected 0 <= low <= high",
                               name(edit.task), edit.low, edit.high));
      }
    }
    return agree(change_.durations, "duration edit",
                 [](const DurationEdit& a, const DurationEdit& b) {
                   return a.duration_ns == b.duration_ns && a.provenance == b.provenance &&
                          a.low == b.low && a.high == b.high;
                 });
  }

  Status segments() {
    for (const SegmentEdit& edit : change_.segments) {
      FORETRACE_TRY(stays(edit.task, "segment edit"));
      const TaskKind kind = index(edit.task) < graph_.size()
                                ? graph_.kind(edit.task)
                                : change_.inserted[index(edit.task) - graph_.size()].task.kind;
      if (edit.segment_ns < 0 && is_host(kind)) {
        return bad(fmt::format("segment edit: {} gets {} ns, expected at least 0", name(edit.task),
                               edit.segment_ns));
      }
    }
    return agree(change_.segments, "segment edit", [](const SegmentEdit& a, const SegmentEdit& b) {
      return a.segment_ns == b.segment_ns && a.provenance == b.provenance;
    });
  }

  Status lags() {
    for (const LagEdit& edit : change_.lags) {
      FORETRACE_TRY(stays(edit.task, "lag edit"));
      if (edit.kind == DependencyKind::queue) {
        return bad(fmt::format("lag edit: {}: a full queue has no lag", name(edit.task)));
      }
    }
    const LagEdit* edit = contradiction(
        change_.lags,
        [](const LagEdit& e) {
          return index(e.task) * dependency_kind_count + static_cast<std::size_t>(e.kind);
        },
        [](const LagEdit& a, const LagEdit& b) { return a.lag_ns == b.lag_ns; });
    if (edit == nullptr) return ok_status();
    return bad(fmt::format("lag edit: two different ones for the {} dependencies of {}",
                           to_string(edit->kind), name(edit->task)));
  }

  Status descriptions() {
    const GraphContext& context = graph_.context();
    for (const WorkEdit& edit : change_.works) {
      FORETRACE_TRY(stays(edit.task, "work edit"));
      const std::size_t at = index(edit.work);
      const std::size_t own = context.works.size();
      if (index(edit.task) >= graph_.size() || at >= own + change_.new_works.size()) {
        return bad(
            fmt::format("work edit: {} gets work {}, expected a task of the graph and a "
                        "work that exists",
                        name(edit.task), at));
      }
      const Work& now = at < own ? context.works[at] : change_.new_works[at - own];
      const Work& before = graph_.work(edit.task);
      if (now.kind != before.kind || now.part != before.part) {
        return bad(fmt::format("work edit: {} is of kind {} and becomes one of kind {}",
                               name(edit.task), to_string(before.kind), to_string(now.kind)));
      }
    }
    return agree(change_.works, "work edit",
                 [](const WorkEdit& a, const WorkEdit& b) { return a.work == b.work; });
  }

  Status moves() {
    for (const Move& move : change_.moved) {
      FORETRACE_TRY(stays(move.task, "move"));
      FORETRACE_TRY(lane_exists(move.lane, "move"));
    }
    return agree(change_.moved, "move",
                 [](const Move& a, const Move& b) { return a.lane == b.lane; });
  }

  Status reorderings() {
    for (const Reordering& r : change_.reordered) {
      FORETRACE_TRY(stays(r.task, "reordering"));
      FORETRACE_TRY(exists(r.anchor, "anchor of a reordering"));
      if (index(r.task) >= graph_.size()) {
        return bad(fmt::format("reordering: {} has its place already", name(r.task)));
      }
    }
    // The same place twice would put the task there twice.
    return agree(change_.reordered, "reordering",
                 [](const Reordering&, const Reordering&) { return false; });
  }

  Status lane_edits() {
    const auto by_lane = [](const auto& edit) { return index(edit.lane); };
    for (const QueueEdit& edit : change_.queues) {
      FORETRACE_TRY(lane_exists(edit.lane, "queue edit"));
    }
    for (const PolicyEdit& edit : change_.policies) {
      FORETRACE_TRY(lane_exists(edit.lane, "policy edit"));
    }
    const auto* queue =
        contradiction(change_.queues, by_lane,
                      [](const QueueEdit& a, const QueueEdit& b) { return a.depth == b.depth; });
    const auto* policy = contradiction(
        change_.policies, by_lane,
        [](const PolicyEdit& a, const PolicyEdit& b) { return a.policy == b.policy; });
    if (queue == nullptr && policy == nullptr) return ok_status();
    return bad(fmt::format("{} edit: two different ones for lane {}",
                           queue != nullptr ? "queue" : "policy",
                           index(queue != nullptr ? queue->lane : policy->lane)));
  }

  Status priorities() {
    for (const PriorityEdit& edit : change_.priorities) {
      FORETRACE_TRY(stays(edit.task, "priority edit"));
    }
    return agree(
        change_.priorities, "priority edit",
        [](const PriorityEdit& a, const PriorityEdit& b) { return a.priority == b.priority; });
  }
};

}  // namespace

Result<std::vector<Fate>> check_change(const TaskGraph& graph, const Change& change) {
  return Checker(graph, change).run();
}

}  // namespace foretrace::committing
