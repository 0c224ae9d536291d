// Tensors by the kernel that writes them, parameters by their category.
#include "models/whatifs/precision/precision_memory.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "models/editing/parameters/model_state.h"
#include "models/editing/tensors/tensor_makers.h"
#include "models/editing/tensors/training_pass.h"
#include "sim/edit/tensors.h"

namespace foretrace::editing {
namespace {

constexpr double half_of_fp32 = 0.5;

// Tensors that all have the type of the model, if the whole model is cast.
bool casts_category(TensorCategory category, const PrecisionChoice& choice) {
  if (choice.autocast) return false;
  return category == TensorCategory::weight || category == TensorCategory::gradient ||
         (choice.update && category == TensorCategory::optimizer_state);
}

}  // namespace

PrecisionMemory::PrecisionMemory(KernelEditor& editor, const PrecisionChoice& choice)
    : editor_(editor),
      choice_(choice),
      recorded_(!editor.graph().context().tensors.empty() && !choice.tf32 && !choice.daydream) {
  if (recorded_) share_.assign(editor.graph().size(), 1.0F);
}

void PrecisionMemory::shrink_results(TaskId kernel, double share) {
  if (!recorded_ || bytes_per_number(editor_.about(kernel).traits.precision) != 4) return;
  share_[index(kernel)] = static_cast<float>(1 - share * (1 - half_of_fp32));
}

void PrecisionMemory::copy_weight(TaskId kernel, double bytes) {
  if (recorded_ && bytes > 0) copies_.push_back({kernel, bytes});
}

void PrecisionMemory::find_ends() {
  const TaskGraph& graph = editor_.graph();
  end_.assign(graph.size(), none<TaskId>);
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, TaskId> last_of_step;
  for (const TaskId kernel : editor_.kernels()) {
    const TaskId call = editor_.own_call(kernel);
    const Lane& lane = graph.lane(kernel);
    if (call != none<TaskId>) last_of_step[{lane.rank, lane.device, graph.step(kernel)}] = call;
  }
  for (const Copy& copy : copies_) {
    const Lane& lane = graph.lane(copy.kernel);
    const auto last = last_of_step.find({lane.rank, lane.device, graph.step(copy.kernel)});
    if (last != last_of_step.end()) end_[index(copy.kernel)] = last->second;
  }
  for (const TrainingPass& pass : find_passes(editor_)) {
    TaskId end = none<TaskId>;
    for (const TaskId kernel : pass.backward) {
      if (editor_.own_call(kernel) != none<TaskId>) end = editor_.own_call(kernel);
    }
    if (end == none<TaskId>) continue;
    for (const TaskId kernel : pass.forward) end_[index(kernel)] = end;
  }
}

void PrecisionMemory::cast_parameters() {
  ParameterEditor parameters(editor_);
  constexpr float half_bytes = 2;
  for (Parameter& row : parameters.table().rows) {
    row.weight_bytes = std::min(row.weight_bytes, half_bytes);
    row.gradient_bytes = std::min(row.gradient_bytes, half_bytes);
    if (choice_.update) row.state_bytes *= static_cast<float>(half_of_fp32);
  }
  parameters.finish();
}

std::string PrecisionMemory::finish(bool all_fp32) {
  const bool casts = !choice_.autocast && !choice_.tf32 && !choice_.daydream;
  if (casts && all_fp32) cast_parameters();
  if (!recorded_) return {};
  TensorEditor edits(editor_.edit());
  const std::vector<TaskId> makers = find_makers(editor_);
  const std::vector<bool> side = find_side_results(editor_.graph());
  const std::vector<Tensor>& tensors = editor_.graph().context().tensors;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto bytes = static_cast<double>(tensors[i].bytes);
    if (casts_category(tensors[i].category, choice_)) {
      if (all_fp32) edits.resize(i, bytes * half_of_fp32);
    } else if (is_result(tensors[i].category) && makers[i] != none<TaskId> && !side[i]) {
      const double share = share_[index(makers[i])];
      if (share < 1) edits.resize(i, bytes * share);
    }
  }
  std::string note = edits.note();

  find_ends();
  double copied = 0;
  std::size_t count = 0;
  for (const Copy& copy : copies_) {
    const TaskId call = editor_.own_call(copy.kernel);
    const TaskId end = end_[index(copy.kernel)];
    if (call == none<TaskId> || end == none<TaskId> || end < call) continue;
    const Lane& lane = editor_.graph().lane(copy.kernel);
    edits.add({.rank = lane.rank,
               .device = lane.device,
               .category = TensorCategory::weight,
               .phase = Phase::forward,
               .layer = editor_.graph().layer(copy.kernel),
               .allocated_in = call,
               .freed_in = end},
              copy.bytes, editor_.operator_of(copy.kernel));
    copied += copy.bytes;
    ++count;
  }
  if (count > 0) {
    note += fmt::format("; {} copies of weights, {:.1f} MiB in all, until their pass ends", count,
                        copied / 0x1p20);
  }
  if (!choice_.autocast && !all_fp32) {
    note += "; parameters and gradients keep their size: some products ran in 16 bit already";
  }
  return note;
}

}  // namespace foretrace::editing
