// Runs of equal work in both passes: each run of copies is the longest piece of the forward pass
// that does the same.
#include "models/whatifs/parallelism/recomputed.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace foretrace::editing {

std::vector<Recomputed> recomputed_kernels(const KernelEditor& editor, const TrainingPass& pass) {
  const TaskGraph& graph = editor.graph();
  std::map<WorkId, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < pass.forward.size(); ++i) {
    places[graph.work_id(pass.forward[i])].push_back(i);
  }
  std::vector<TaskId> copies;
  for (const TaskId kernel : pass.backward) {
    // What was recorded in the backward pass was measured, or scaled since.
    if (graph.provenance(kernel) == Provenance::assumed && places.contains(graph.work_id(kernel))) {
      copies.push_back(kernel);
    }
  }
  const auto length_at = [&](std::size_t copy, std::size_t forward) {
    std::size_t length = 0;
    while (copy + length < copies.size() && forward + length < pass.forward.size() &&
           graph.work_id(copies[copy + length]) == graph.work_id(pass.forward[forward + length])) {
      ++length;
    }
    return length;
  };
  std::vector<Recomputed> again;
  for (std::size_t at = 0; at < copies.size();) {
    std::size_t best = 0;
    std::size_t longest = 0;
    for (const std::size_t place : places[graph.work_id(copies[at])]) {
      const std::size_t length = length_at(at, place);
      // Of equal ones the last: the backward pass goes from the end to the begin.
      if (length >= longest) {
        best = place;
        longest = length;
      }
    }
    for (std::size_t i = 0; i < longest; ++i) again.push_back({best + i, copies[at + i]});
    at += longest;
  }
  return again;
}

TrainingPass without_recomputed(const TrainingPass& pass, const std::vector<Recomputed>& again) {
  std::set<TaskId> copies;
  for (const Recomputed& one : again) copies.insert(one.copy);
  TrainingPass own{pass.forward, {}};
  std::copy_if(pass.backward.begin(), pass.backward.end(), std::back_inserter(own.backward),
               [&](TaskId kernel) { return !copies.contains(kernel); });
  return own;
}

}  // namespace foretrace::editing
