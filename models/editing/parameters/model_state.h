// The state of training as a graph has it: parameters, gradients, what the optimizer keeps. One
// table says it (sim/graph/parameters.h): built from the recording, edited by what-ifs, carried by
// commits. What-ifs ask here, never the kernels.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/parameters/recorded_state.h"
#include "models/editing/tensors/training_pass.h"
#include "sim/graph/parameters.h"

namespace foretrace::editing {

/// The table of the graph; where none was carried to it, what its recording tells: a row per tensor
/// that forward kernels read, by recorded shapes, and one per device for what no kernel is known to
/// read, so that all add up to recorded_counts().
[[nodiscard]] std::shared_ptr<const ParameterTable> parameters_of(const KernelEditor& editor);

/// By device. Devices of which nothing tells are left out.
[[nodiscard]] std::map<DeviceOfRank, ParameterCount> parameter_counts(const KernelEditor& editor);
/// Of the device with most.
[[nodiscard]] ParameterCount parameter_count(const KernelEditor& editor);
/// How many those are, of a table.
[[nodiscard]] double most_numbers(const ParameterTable& table);
/// Of a number of a gradient, and of a parameter in the update: usually 4, or 2.
[[nodiscard]] double parameter_bytes(const KernelEditor& editor);
/// Per parameter that is trained.
[[nodiscard]] OptimizerStates optimizer_states(const KernelEditor& editor);
/// Kernels of updates that work on parameters and states, in program order: pointwise and
/// multi-tensor ones of the recording, and what stands in for them.
[[nodiscard]] std::vector<TaskId> update_kernels(const KernelEditor& editor);
/// A note for what-ifs that move or shrink states: "; the known memory holds no optimizer states,
/// ..." where tensors are known and none of them is a state; else nothing.
[[nodiscard]] std::string without_states(const KernelEditor& editor);

/// Which numbers kernels read, by the table; nothing of passes that no row is known of.
struct ReadNumbers {
  double all = 0;
  double trained = 0;
};
[[nodiscard]] std::map<TaskId, ReadNumbers> numbers_by_reader(const KernelEditor& editor);

/// Edits of the table.
class ParameterEditor {
 public:
  explicit ParameterEditor(KernelEditor& editor);

  [[nodiscard]] ParameterTable& table() { return table_; }
  [[nodiscard]] const ParameterTable& table() const { return table_; }
  [[nodiscard]] const ParameterTable& before() const { return *before_; }
  /// Rows that the call reads whose first kernel this is.
  [[nodiscard]] std::set<ParameterId> read_by(TaskId kernel) const;
  /// The largest of them has this share of its elements, or of the bytes of its weight, afterwards;
  /// one that several calls read is edited once.
  void scale_elements(TaskId kernel, double share);
  void scale_weight_bytes(TaskId kernel, double share);
  /// Hands the table to the change where it is another than before.
  void finish();

 private:
  [[nodiscard]] ParameterId unscaled(TaskId kernel);

  KernelEditor& editor_;
  std::shared_ptr<const ParameterTable> before_;
  ParameterTable table_;
  std::multimap<TaskId, ParameterId> read_by_;
  std::set<ParameterId> scaled_;
};

}  // namespace foretrace::editing
