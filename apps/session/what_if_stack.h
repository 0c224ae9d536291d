// What-ifs on top of each other: each acts on the graph that those before it made.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/session/prediction.h"
#include "apps/session/recording/recording.h"
#include "apps/session/replay/run.h"
#include "models/hardware/catalogue/catalogue.h"
#include "models/whatifs/what_if_spec.h"
#include "sim/core/result.h"
#include "sim/graph/change.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

struct ChangedJob;

/// The bounds of a stack of changes: factors of durations, multiplied where several edit one task.
class DurationBounds {
 public:
  void follow(const Committed& committed);
  [[nodiscard]] bool are_tight() const { return low_.empty() && high_.empty(); }
  [[nodiscard]] TaskGraph low(const TaskGraph& graph) const;
  [[nodiscard]] TaskGraph high(const TaskGraph& graph) const;
  /// The same, without those of the tasks that `is_known` selects.
  [[nodiscard]] DurationBounds without(const TaskGraph& graph,
                                       const std::function<bool(TaskId)>& is_known) const;

 private:
  std::vector<float> low_;
  std::vector<float> high_;
};

/// A recording and what was applied to it. Copies share the graph.
class WhatIfStack {
 public:
  explicit WhatIfStack(const Recording& recording, Checks checks = default_checks())
      : graph_(recording.graph()),
        accelerator_(recording.accelerator),
        known_(recording.known),
        checks_(checks) {}

  /// On the graph of a changed job, with what changed it.
  explicit WhatIfStack(const ChangedJob& changed, Checks checks = default_checks());

  /// The error names the what-if; the stack is then as it was. ErrorCode::no_match if it finds
  /// nothing to change, or leaves everything as it is and is not to be kept.
  [[nodiscard]] Status push(const WhatIf& what_if, Neutral neutral);

  [[nodiscard]] const TaskGraph& graph() const { return graph_; }
  /// What the changed run is on.
  [[nodiscard]] const std::optional<Accelerator>& accelerator() const { return accelerator_; }
  [[nodiscard]] const std::vector<Applied>& applied() const { return applied_; }
  /// See ChangedRun::samples.
  [[nodiscard]] const std::optional<double>& samples() const { return samples_; }

  /// Per task of the graph the task of the recording that it was; none: it was inserted. Empty:
  /// every task kept its id.
  [[nodiscard]] const std::vector<TaskId>& origin() const { return origin_; }

  [[nodiscard]] const DurationBounds& bounds() const { return bounds_; }
  /// The graph with every edited duration at its low (high) bound.
  [[nodiscard]] TaskGraph low() const { return bounds_.low(graph_); }
  [[nodiscard]] TaskGraph high() const { return bounds_.high(graph_); }

  [[nodiscard]] Result<ChangedRun> simulate(const RunOptions& options) const;

 private:
  TaskGraph graph_;
  std::optional<Accelerator> accelerator_;
  CataloguePtr known_;  ///< with the files that parameters named
  Checks checks_ = Checks::none;
  std::vector<Applied> applied_;
  std::optional<double> samples_;
  std::vector<TaskId> origin_;
  DurationBounds bounds_;
};

/// A file of the user's that a parameter names by its path.
struct NamedFile {
  std::string_view parameter;
  std::string_view folder;  ///< of configs, whose kind it is
  std::string path;
};
[[nodiscard]] std::vector<NamedFile> files_named_by(const WhatIf& what_if);
/// The catalogue with them.
[[nodiscard]] Status add_files_of(const WhatIf& what_if, CataloguePtr& known);

/// The message without "name: " in front of it.
[[nodiscard]] std::string reason_of(const Error& error, std::string_view name);

}  // namespace foretrace
