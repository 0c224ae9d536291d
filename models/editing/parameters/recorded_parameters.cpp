// Rows are of the pass whose kernels read most; other passes of the device read the same rows.
#include "models/editing/parameters/recorded_parameters.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "models/editing/parameters/model_weights.h"
#include "models/editing/parameters/recorded_state.h"
#include "models/editing/tensors/training_pass.h"

namespace foretrace::editing {
namespace {

double numbers_of(const std::vector<WeightUse>& uses) {
  double sum = 0;
  for (const WeightUse& use : uses) {
    for (const double size : use.sizes) sum += size;
  }
  return sum;
}

class TableBuilder {
 public:
  explicit TableBuilder(const KernelEditor& editor)
      : editor_(editor), passes_(find_passes(editor)), states_(recorded_states(editor)) {
    table_.states_evidence = states_.evidence;
    bytes_ = static_cast<float>(recorded_bytes(editor));
  }

  ParameterTable run() {
    for (const auto& [device, count] : recorded_counts(editor_)) add(device, count);
    for (const TaskId kernel : editor_.kernels()) {
      const KernelClass is = editor_.class_of(kernel);
      if (editor_.graph().phase(kernel) != Phase::update) continue;
      if (is != KernelClass::optimizer && is != KernelClass::elementwise) continue;
      table_.uses.push_back({kernel, none<ParameterId>, ParameterRole::update});
    }
    return std::move(table_);
  }

 private:
  void add(const DeviceOfRank& device, const ParameterCount& count) {
    table_.sources.push_back({device.first, device.second, count.evidence});
    std::vector<std::pair<const TrainingPass*, std::vector<WeightUse>>> passes;
    std::size_t most = 0;
    for (const TrainingPass& pass : passes_) {
      if (device_of(editor_.graph(), pass.backward.front()) != device) continue;
      passes.emplace_back(&pass, model_weights(editor_, pass.forward, count.numbers));
      if (numbers_of(passes.back().second) > numbers_of(passes[most].second)) {
        most = passes.size() - 1;
      }
    }
    Parameter row;
    row.rank = device.first;
    row.device = device.second;
    row.held = count.held / count.numbers;
    row.weight_bytes = row.gradient_bytes = bytes_;
    row.state_bytes = static_cast<float>(states_.bytes);
    std::size_t tensors = 0;
    double missing = count.numbers;
    if (!passes.empty()) {
      const std::vector<WeightUse>& uses = passes[most].second;
      missing -= numbers_of(uses);
      tensors = add_rows(row, passes[most].first->forward, uses, missing, count.numbers);
      for (const auto& [pass, read] : passes) add_uses(pass->forward, read, uses);
    }
    if (tensors > 0 && missing <= count_agreement * count.numbers) return;
    const std::size_t all = count.tensors > 0 ? count.tensors : unknown_tensors;
    row.elements = missing;
    row.tensors = static_cast<std::uint32_t>(all > tensors ? all - tensors : 1);
    table_.rows.push_back(row);
  }

  /// They add up to the model where next to nothing of it is missing. Returns how many there are.
  std::size_t add_rows(Parameter row, const std::vector<TaskId>& forward,
                       const std::vector<WeightUse>& uses, double missing, double numbers) {
    first_row_.clear();
    const std::size_t before = table_.rows.size();
    const double factor = missing <= count_agreement * numbers ? numbers / (numbers - missing) : 1;
    for (const WeightUse& use : uses) {
      first_row_.push_back(table_.rows.size());
      row.layer = editor_.graph().layer(forward[use.kernel]);
      for (const double size : use.sizes) {
        row.elements = size * factor;
        table_.rows.push_back(row);
      }
    }
    return table_.rows.size() - before;
  }

  /// Each use is of the next row that has its sizes.
  void add_uses(const std::vector<TaskId>& forward, const std::vector<WeightUse>& read,
                const std::vector<WeightUse>& rows) {
    std::size_t next = 0;
    for (const WeightUse& use : read) {
      std::size_t at = next;
      while (at < rows.size() && rows[at].sizes != use.sizes) ++at;
      if (at == rows.size()) continue;  // a pass of another kind reads it
      next = at + 1;
      for (std::size_t i = 0; i < use.sizes.size(); ++i) {
        table_.uses.push_back(
            {forward[use.kernel], make_id<ParameterId>(first_row_[at] + i), ParameterRole::read});
      }
    }
  }

  const KernelEditor& editor_;
  std::vector<TrainingPass> passes_;
  OptimizerStates states_;
  float bytes_ = 4;
  ParameterTable table_;
  std::vector<std::size_t> first_row_;  // per use of the pass that reads most
};

}  // namespace

ParameterTable recorded_parameters(const KernelEditor& editor) {
  return TableBuilder(editor).run();
}

}  // namespace foretrace::editing
