#include "models/editing/parameters/model_state.h"

#include <algorithm>
#include <vector>

#include "models/editing/parameters/recorded_parameters.h"
#include "models/hardware/kernels/context_memo.h"

namespace foretrace::editing {
namespace {

/// A sum over rows, each with its trained elements as weight; 0 where nothing is trained.
template <typename Of>
double trained_mean(const ParameterTable& table, const Of& of) {
  double trained = 0;
  double sum = 0;
  for (const Parameter& row : table.rows) {
    const double elements = row.elements * row.trained;
    trained += elements;
    sum += elements * static_cast<double>(of(row));
  }
  return trained > 0 ? sum / trained : 0;
}

std::map<DeviceOfRank, ParameterCount> counts_of(const ParameterTable& table) {
  std::map<DeviceOfRank, ParameterCount> counts;
  for (const ParameterSource& source : table.sources) {
    counts[{source.rank, source.device}].evidence = source.evidence;
  }
  for (const Parameter& row : table.rows) {
    ParameterCount& count = counts[{row.rank, row.device}];
    const double trained = row.elements * row.trained;
    count.numbers += row.elements;
    count.trained += trained;
    count.held += row.elements * row.held;
    count.updated += trained * row.held;
    count.tensors += row.trained > 0 ? row.tensors : 0;
  }
  return counts;
}

bool same(const Parameter& a, const Parameter& b) {
  return a.elements == b.elements && a.trained == b.trained && a.held == b.held &&
         a.weight_bytes == b.weight_bytes && a.gradient_bytes == b.gradient_bytes &&
         a.state_bytes == b.state_bytes && a.states_at == b.states_at;
}

}  // namespace

std::shared_ptr<const ParameterTable> parameters_of(const KernelEditor& editor) {
  const TaskGraph& graph = editor.graph();
  if (graph.context().parameters != nullptr) return graph.context().parameters;
  static ContextMemo<ParameterTable> memo;
  return memo.get(graph.shared_context(), [&editor] { return recorded_parameters(editor); });
}

std::map<DeviceOfRank, ParameterCount> parameter_counts(const KernelEditor& editor) {
  std::map<DeviceOfRank, ParameterCount> counts = counts_of(*parameters_of(editor));
  const GraphContext& context = editor.graph().context();
  const bool covers_all =
      context.parameters == nullptr ||
      std::all_of(context.lanes.begin(), context.lanes.end(), [&](const Lane& lane) {
        return lane.kind != LaneKind::stream || counts.contains({lane.rank, lane.device});
      });
  // Of ranks that came later, their kernels tell.
  if (!covers_all) counts.merge(recorded_counts(editor));
  return counts;
}

ParameterCount parameter_count(const KernelEditor& editor) {
  ParameterCount most;
  for (const auto& [device, count] : parameter_counts(editor)) {
    if (count.numbers > most.numbers) most = count;
  }
  return most;
}

double most_numbers(const ParameterTable& table) {
  double most = 0;
  for (const auto& [device, count] : counts_of(table)) most = std::max(most, count.numbers);
  return most;
}

double parameter_bytes(const KernelEditor& editor) {
  const auto table = parameters_of(editor);
  const double mean = trained_mean(*table, [](const Parameter& row) { return row.gradient_bytes; });
  return mean > 0 ? mean : recorded_bytes(editor);
}

OptimizerStates optimizer_states(const KernelEditor& editor) {
  const auto table = parameters_of(editor);
  if (table->rows.empty()) return recorded_states(editor);
  return {trained_mean(*table, [](const Parameter& row) { return row.state_bytes; }),
          table->states_evidence};
}

std::map<TaskId, ReadNumbers> numbers_by_reader(const KernelEditor& editor) {
  const auto table = parameters_of(editor);
  std::map<TaskId, ReadNumbers> read;
  for (const ParameterUse& use : table->uses) {
    if (use.role != ParameterRole::read) continue;
    const Parameter& row = table->rows[index(use.parameter)];
    ReadNumbers& numbers = read[use.task];
    numbers.all += row.elements;
    numbers.trained += row.elements * row.trained;
  }
  return read;
}

std::vector<TaskId> update_kernels(const KernelEditor& editor) {
  const TaskGraph& graph = editor.graph();
  std::set<TaskId> kernels;
  for (const ParameterUse& use : parameters_of(editor)->uses) {
    const bool updates = use.role == ParameterRole::update &&
                         graph.kind(use.task) == TaskKind::kernel &&
                         graph.phase(use.task) == Phase::update;
    if (updates) kernels.insert(use.task);
  }
  return {kernels.begin(), kernels.end()};
}

std::string without_states(const KernelEditor& editor) {
  const std::vector<Tensor>& tensors = editor.graph().context().tensors;
  const bool has_states = std::any_of(tensors.begin(), tensors.end(), [](const Tensor& tensor) {
    return tensor.category == TensorCategory::optimizer_state;
  });
  if (tensors.empty() || has_states) return {};
  return "; the recorded memory contains no optimizer states, so its peak excludes them before and "
         "after";
}

ParameterEditor::ParameterEditor(KernelEditor& editor)
    : editor_(editor), before_(parameters_of(editor)), table_(*before_) {
  for (const ParameterUse& use : before_->uses) {
    if (use.role == ParameterRole::read) read_by_.emplace(use.task, use.parameter);
  }
}

std::set<ParameterId> ParameterEditor::read_by(TaskId kernel) const {
  std::set<ParameterId> rows;
  const auto [first, last] = read_by_.equal_range(kernel);
  for (auto use = first; use != last; ++use) rows.insert(use->second);
  return rows;
}

ParameterId ParameterEditor::unscaled(TaskId kernel) {
  ParameterId largest = none<ParameterId>;
  for (const ParameterId id : read_by(kernel)) {
    if (largest == none<ParameterId> ||
        before_->rows[index(id)].elements > before_->rows[index(largest)].elements) {
      largest = id;
    }
  }
  const bool is_new = largest != none<ParameterId> && scaled_.insert(largest).second;
  return is_new ? largest : none<ParameterId>;
}

void ParameterEditor::scale_elements(TaskId kernel, double share) {
  const ParameterId id = unscaled(kernel);
  if (id != none<ParameterId>) table_.rows[index(id)].elements *= share;
}

void ParameterEditor::scale_weight_bytes(TaskId kernel, double share) {
  const ParameterId id = unscaled(kernel);
  if (id != none<ParameterId>) table_.rows[index(id)].weight_bytes *= static_cast<float>(share);
}

void ParameterEditor::finish() {
  const bool edited = table_.uses.size() != before_->uses.size() ||
                      !std::equal(table_.rows.begin(), table_.rows.end(), before_->rows.begin(),
                                  before_->rows.end(), same);
  if (edited) editor_.edit().set_parameters(std::move(table_));
}

}  // namespace foretrace::editing
