// What the step that answers was spent on: amounts of time that add up to it exactly.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/questions/compare/stretches.h"
#include "apps/session/replay/run.h"
#include "sim/core/result.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

/// What is compared: names only, so that two recordings can have the same.
struct SpentKey {
  Use use = Use::idle;
  /// The reason it belongs to: the class of a kernel, the kind of a collective, the phase of host
  /// work, the rank that is waited for.
  std::string group{};
  std::string item{};    ///< within it: the operator, or the region of host work
  std::string kernel{};  ///< of the function or call
  std::string shapes{};  ///< of the operator's inputs
  std::string phase{};
  std::string layer{};
  // NOLINTNEXTLINE(modernize-use-nullptr): no pointer is written here
  friend auto operator<=>(const SpentKey&, const SpentKey&) = default;
};

struct Spent {
  SpentKey key;
  std::int64_t time_ns = 0;  ///< of the step, exclusively
  std::int64_t busy_ns = 0;  ///< of the operations themselves, whatever else ran beside them
  double calls = 0;          ///< operations
  std::int64_t bytes = 0;    ///< that copies and collectives carry, as far as recorded
  Precision precision = Precision::unknown;
};

/// Sorted by key. `time_ns` adds up to run.answer.step_ns.
[[nodiscard]] std::vector<Spent> spending_of(const TaskGraph& graph, const Run& run);

}  // namespace foretrace
