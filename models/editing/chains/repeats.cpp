#include "models/editing/chains/repeats.h"

#include <algorithm>
#include <map>
#include <set>

namespace foretrace::editing {
namespace {

// Periods are tried that lie between occurrences of so many of the rarest items...
constexpr std::size_t most_items = 8;
// ...that come up to so often in one run, as the cell of a recursion does.
constexpr std::size_t most_per_run = 4;
// A trace with many repeats has few distances; a bound for one without any.
constexpr std::size_t most_periods = 256;

/// Distances at which one of the rarest items comes again.
std::set<std::size_t> likely_periods(std::span<const std::uint64_t> items, std::size_t count) {
  std::map<std::uint64_t, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < items.size(); ++i) places[items[i]].push_back(i);
  std::vector<const std::vector<std::size_t>*> rarest;
  for (const auto& [item, at] : places) {
    if (at.size() >= count) rarest.push_back(&at);
  }
  std::stable_sort(rarest.begin(), rarest.end(),
                   [](const auto* a, const auto* b) { return a->size() < b->size(); });
  rarest.resize(std::min(rarest.size(), most_items));
  std::set<std::size_t> periods;
  for (const auto* at : rarest) {
    for (std::size_t step = 1; step <= most_per_run; ++step) {
      for (std::size_t i = 0; i + step < at->size() && periods.size() < most_periods; ++i) {
        const std::size_t period = (*at)[i + step] - (*at)[i];
        if (period <= items.size() / count) periods.insert(period);
      }
    }
  }
  return periods;
}

}  // namespace

Repeats longest_repeats(std::span<const std::uint64_t> items, std::size_t count) {
  Repeats longest;
  if (count < 2) return longest;
  for (const std::size_t period : likely_periods(items, count)) {
    std::size_t equal = 0;  // items up to here that are the same one period later
    for (std::size_t i = 0; i + period <= items.size(); ++i) {
      if (i + period < items.size() && items[i] == items[i + period]) {
        ++equal;
        continue;
      }
      if ((equal + period) / period == count && period > longest.period) {
        longest = {i - equal, period};
      }
      equal = 0;
    }
  }
  return longest;
}

std::vector<std::uint64_t> kernel_items(const KernelEditor& editor, std::span<const TaskId> kernels,
                                        SameBy by) {
  const TaskGraph& graph = editor.graph();
  constexpr std::uint64_t named = std::uint64_t{1} << 31;
  std::vector<std::uint64_t> items;
  for (const TaskId kernel : kernels) {
    const Work& work = graph.work(kernel);
    std::uint64_t what = index(graph.work_id(kernel));
    if (by == SameBy::operator_called) {
      what = work.operator_name == NameId{} ? named + index(work.name) : index(work.operator_name);
    }
    items.push_back(what << 32 | index(graph.layer(kernel)));
  }
  return items;
}

bool knows_layers(const TaskGraph& graph, std::span<const TaskId> kernels) {
  return std::any_of(kernels.begin(), kernels.end(), [&](TaskId kernel) {
    const LayerId layer = graph.layer(kernel);
    return layer != none<LayerId> && index(layer) != 0;
  });
}

}  // namespace foretrace::editing
