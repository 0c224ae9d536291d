#include "apps/questions/compare/compare.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "sim/core/text.h"
#include "sim/engine/memory/memory_tracker.h"

namespace foretrace {
namespace {

using Names = std::vector<std::string>;
/// What of a key is matched; empty: it is left out.
using NamesOf = std::function<Names(const SpentKey&)>;

/// Adds up the amounts of both runs whose names are equal.
class Matcher {
 public:
  Matcher(std::span<const Spent> before, std::span<const Spent> after)
      : before_(before), after_(after) {}

  [[nodiscard]] std::vector<Compared> match(const NamesOf& names_of) const {
    std::map<std::pair<Use, Names>, Row> rows;
    for (const bool is_after : {false, true}) {
      for (const Spent& spent : is_after ? after_ : before_) {
        Names names = names_of(spent.key);
        if (!names.empty()) {
          add(rows[{spent.key.use, std::move(names)}], spent, is_after);
        }
      }
    }
    std::vector<Compared> matched;
    for (auto& [key, row] : rows) {
      Compared& compared = row.compared;
      compared.use = key.first;
      compared.names = key.second;
      compared.before_precision = most_of(row.before_busy);
      compared.after_precision = most_of(row.after_busy);
      matched.push_back(std::move(compared));
    }
    return matched;
  }

 private:
  using BusyBy = std::array<std::int64_t, precision_count>;
  struct Row {
    Compared compared;
    BusyBy before_busy{};
    BusyBy after_busy{};
  };

  static void add(Row& row, const Spent& spent, bool is_after) {
    Compared& sum = row.compared;
    (is_after ? sum.after_ns : sum.before_ns) += spent.time_ns;
    (is_after ? sum.after_busy_ns : sum.before_busy_ns) += spent.busy_ns;
    (is_after ? sum.after_calls : sum.before_calls) += spent.calls;
    (is_after ? sum.after_bytes : sum.before_bytes) += spent.bytes;
    (is_after ? row.after_busy : row.before_busy)[static_cast<std::size_t>(spent.precision)] +=
        spent.busy_ns;
  }

  static Precision most_of(const BusyBy& busy) {
    const auto* const most = std::max_element(busy.begin(), busy.end());
    return *most == 0 ? Precision::unknown : static_cast<Precision>(most - busy.begin());
  }

  std::span<const Spent> before_;
  std::span<const Spent> after_;
};

void sort_by_change(std::vector<Compared>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Compared& a, const Compared& b) {
    return std::abs(a.change_ns()) > std::abs(b.change_ns());
  });
}

/// Rows of different uses under one name become one.
std::vector<Compared> without_use(const std::vector<Compared>& rows) {
  std::map<Names, Compared> sums;
  for (const Compared& row : rows) {
    Compared& sum = sums[row.names];
    sum.names = row.names;
    sum.before_ns += row.before_ns;
    sum.after_ns += row.after_ns;
    sum.before_busy_ns += row.before_busy_ns;
    sum.after_busy_ns += row.after_busy_ns;
    sum.before_calls += row.before_calls;
    sum.after_calls += row.after_calls;
  }
  std::vector<Compared> merged;
  merged.reserve(sums.size());
  for (auto& [names, sum] : sums) merged.push_back(std::move(sum));
  sort_by_change(merged);
  return merged;
}

/// Reasons with what they are made of.
std::vector<Compared> reasons_of(const Matcher& matcher) {
  std::vector<Compared> reasons =
      matcher.match([](const SpentKey& key) { return Names{key.group}; });
  std::vector<Compared> parts = matcher.match([](const SpentKey& key) {
    return Names{key.group, key.item};
  });
  sort_by_change(parts);
  for (Compared& reason : reasons) {
    for (const Compared& part : parts) {
      const bool is_one = reason.use != Use::idle && part.use == reason.use;
      if (is_one && part.names[0] == reason.names[0]) reason.parts.push_back(part);
    }
  }
  return reasons;
}

bool is_work(Use use) {
  return use == Use::compute || use == Use::communication || use == Use::copy;
}

/// What the replays do not reproduce of the recordings is a reason of its own.
void add_replay(const ComparedRun& before, const ComparedRun& after, Comparison& comparison) {
  Compared rest{.use = Use::idle, .names = {"what the simulation leaves out"}};
  rest.before_ns = comparison.before_ns - before.run.answer.step_ns;
  rest.after_ns = comparison.after_ns - after.run.answer.step_ns;
  if (rest.before_ns == 0 && rest.after_ns == 0) return;
  for (auto* const list : {&comparison.uses, &comparison.reasons, &comparison.phases}) {
    list->push_back(rest);
  }
  if (!comparison.layers.empty()) comparison.layers.push_back(rest);
}

/// The curve with the highest peak; null if there is none.
const MemoryCurve* fullest(const std::vector<MemoryCurve>& curves) {
  const auto most = std::max_element(
      curves.begin(), curves.end(),
      [](const MemoryCurve& a, const MemoryCurve& b) { return a.peak_bytes < b.peak_bytes; });
  return most == curves.end() ? nullptr : &*most;
}

void compare_memory(const ComparedRun& before, const ComparedRun& after, Comparison& comparison) {
  const std::vector<MemoryCurve> curves_before = track_memory(before.graph, before.run.timeline);
  const std::vector<MemoryCurve> curves_after = track_memory(after.graph, after.run.timeline);
  const MemoryCurve* const a = fullest(curves_before);
  const MemoryCurve* const b = fullest(curves_after);
  if (a == nullptr || b == nullptr) return;
  comparison.peak = ComparedBytes{"peak", a->peak_bytes, b->peak_bytes};
  for (std::size_t i = 0; i < tensor_category_count; ++i) {
    if (a->at_peak[i] == 0 && b->at_peak[i] == 0) continue;
    comparison.memory.push_back(
        {std::string(to_string(static_cast<TensorCategory>(i))), a->at_peak[i], b->at_peak[i]});
  }
  std::stable_sort(comparison.memory.begin(), comparison.memory.end(),
                   [](const ComparedBytes& x, const ComparedBytes& y) {
                     return std::abs(x.after_bytes - x.before_bytes) >
                            std::abs(y.after_bytes - y.before_bytes);
                   });
}

}  // namespace

bool ComparedRun::has_work() const {
  const GraphContext& context = graph.context();
  if (!context.steps.empty() || !context.segment_parts.empty()) return true;  // of the host alone
  const std::vector<TaskKind>& kinds = graph.columns().kind;
  return std::any_of(kinds.begin(), kinds.end(),
                     [](TaskKind kind) { return is_device(kind) || kind == TaskKind::launch; });
}

ComparedRun compared_run(const Session& session) {
  const Replay& replay = session.replay();
  std::optional<std::int64_t> measured;
  if (replay.has_measured()) measured = replay.measured_answer.step_ns;
  return {std::string(file_name_of(session.recording().path)), session.graph(), replay.run,
          measured, replay.scatter};
}

ComparedRun simulated_run(const Session& session) {
  ComparedRun run = compared_run(session);
  run.measured_ns.reset();
  return run;
}

ComparedRun compared_run(const Answer& answer) {
  return {answer.name(),   answer.graph(),  answer.run(), std::nullopt, 0,
          answer.low_ns(), answer.high_ns()};
}

Result<Comparison> compare_runs(const ComparedRun& before, const ComparedRun& after) {
  if (before.has_work() != after.has_work()) {
    const ComparedRun& idle = before.has_work() ? after : before;
    return Error{ErrorCode::unsupported,
                 fmt::format("{}: tensors without times, which cannot be compared with a run of {}",
                             idle.name, (before.has_work() ? before : after).name)};
  }
  Comparison comparison;
  compare_memory(before, after, comparison);
  if (!before.has_work() && !after.has_work()) return comparison;
  const std::vector<Spent> spent_before = spending_of(before.graph, before.run);
  const std::vector<Spent> spent_after = spending_of(after.graph, after.run);
  const Matcher matcher(spent_before, spent_after);
  comparison.before_ns = before.measured_ns.value_or(before.run.answer.step_ns);
  comparison.after_ns = after.measured_ns.value_or(after.run.answer.step_ns);
  comparison.scatter = std::max(before.scatter, after.scatter);
  comparison.uses =
      matcher.match([](const SpentKey& key) { return Names{std::string(to_string(key.use))}; });
  comparison.reasons = reasons_of(matcher);
  comparison.phases = without_use(matcher.match([](const SpentKey& key) {
    return Names{key.phase.empty() || key.phase == to_string(Phase::unknown) ? "unknown phase"
                                                                             : key.phase};
  }));
  comparison.layers = without_use(matcher.match([](const SpentKey& key) {
    return Names{key.layer.empty() ? std::string("unknown layer") : key.layer};
  }));
  if (comparison.layers.size() < 2) comparison.layers.clear();
  comparison.operators = matcher.match(
      [](const SpentKey& key) { return is_work(key.use) ? Names{key.item} : Names{}; });
  comparison.kernels = matcher.match([](const SpentKey& key) {
    return is_work(key.use) ? Names{key.layer, key.item, key.kernel, key.shapes} : Names{};
  });
  add_replay(before, after, comparison);
  sort_by_change(comparison.reasons);
  sort_by_change(comparison.operators);
  sort_by_change(comparison.kernels);
  return comparison;
}

Result<Comparison> reasons_of(const Answer& answer) {
  return compare_runs(simulated_run(answer.session()), compared_run(answer));
}

}  // namespace foretrace
