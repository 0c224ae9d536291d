// What a file in models/optimizations/ exports: a what-if with its paper, parameters and recipe.
#pragma once

#include <span>
#include <string_view>

#include "models/accelerator.h"
#include "sim/core/params.h"
#include "sim/core/result.h"
#include "sim/graph/change.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

/// What an optimization may look at. Nothing in it is mutable.
struct Scenario {
  const TaskGraph& graph;
  const Accelerator* accelerator = nullptr;  ///< of the recording; null if it is not known
};

struct OptimizationInfo {
  std::string_view name;
  std::string_view summary;                       ///< one line
  std::string_view paper;                         ///< authors, title, venue, year
  std::string_view recipe;                        ///< what changes in the graph, a few lines
  std::span<const std::string_view> assumptions;  ///< each a thing that could be false
  std::span<const std::string_view> ignores;      ///< what is left out
  std::string_view calibrate;                     ///< which parameter, from which measurement
  std::span<const ParamInfo> params;
  /// ErrorCode::no_match if it finds nothing to change.
  Result<Change> (*apply)(const Scenario& scenario, const ParamValues& params);
};

namespace optimizations {
/// Every optimization, sorted by name (generated from the files of models/optimizations).
[[nodiscard]] std::span<const OptimizationInfo* const> all();
}  // namespace optimizations

}  // namespace foretrace
