#include "models/editing/parameters/weight_tensors.h"

#include <algorithm>
#include <vector>

namespace foretrace::editing {
namespace {

// Weights are rounded to blocks, products are not.
constexpr double rounding = 1.001;

bool is_weight_of(const TaskGraph& graph, const Tensor& tensor, const DeviceOfRank& device) {
  return tensor.category == TensorCategory::weight && tensor.allocated_in == none<TaskId> &&
         tensor.bytes > 0 && DeviceOfRank(graph.rank_of(tensor), tensor.device) == device;
}

}  // namespace

void WeightTensors::add(TaskId kernel, double before, double after) {
  const TaskId call = calls_.first_of(kernel);
  if (!(before > 0) || !shares_.emplace(call, after / before).second) return;
  const Lane& lane = editor_.graph().lane(kernel);
  const double numbers = 1 / editor_.number_bytes(kernel);
  by_step_[{lane.rank, lane.device, editor_.graph().step(kernel)}].push_back(
      {call, {before * numbers, after * numbers}});
}

std::map<DeviceOfRank, WeightTensors::Bytes> WeightTensors::largest_step(
    const ParameterEditor& stored) const {
  std::map<DeviceOfRank, Bytes> largest;
  for (const auto& [key, reads] : by_step_) {
    const auto [rank, device, step] = key;
    Bytes bytes;
    for (const Read& read : reads) {
      double width = editor_.number_bytes(read.call);
      for (const ParameterId id : stored.read_by(read.call)) {
        width = std::max(width, double{stored.before().rows[index(id)].weight_bytes});
      }
      bytes.before += read.bytes.before * width;
      bytes.after += read.bytes.after * width;
    }
    Bytes& most = largest[{rank, device}];
    if (bytes.before > most.before) most = bytes;
  }
  return largest;
}

void WeightTensors::edit(ParameterEditor& parameters) const {
  for (const auto& [call, share] : shares_) {
    if (fewer_ == Fewer::numbers) {
      parameters.scale_elements(call, share);
    } else {
      parameters.scale_weight_bytes(call, share);
    }
  }
}

double WeightTensors::numbers_left() const {
  ParameterEditor parameters(editor_);
  edit(parameters);
  return most_numbers(parameters.table());
}

std::string WeightTensors::edit(TensorEditor& tensors) const {
  ParameterEditor parameters(editor_);
  edit(parameters);
  parameters.finish();
  const std::vector<Tensor>& all = editor_.graph().context().tensors;
  std::string note;
  for (const auto& [device, bytes] : largest_step(parameters)) {
    double recorded = 0;
    for (const Tensor& tensor : all) {
      if (is_weight_of(editor_.graph(), tensor, device))
        recorded += static_cast<double>(tensor.bytes);
    }
    if (recorded == 0) continue;
    if (bytes.before > recorded * rounding) {
      note = "; recorded weights keep their size, since a step reads more than that";
      continue;
    }
    const double share = std::max(0.0, 1 - (bytes.before - bytes.after) / recorded);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!is_weight_of(editor_.graph(), all[i], device)) continue;
      tensors.resize(i, static_cast<double>(all[i].bytes) * share);
    }
  }
  return note;
}

}  // namespace foretrace::editing
