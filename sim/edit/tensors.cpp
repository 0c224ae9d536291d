// A lifetime that changes is a tensor that goes and one or two that come.
#include "sim/edit/tensors.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

namespace foretrace {
namespace {

// Blocks of PyTorch's allocator are multiples of this.
constexpr double allocator_block = 512;
// Far beyond any device, so that sums over all tensors stay within 64 bits.
constexpr double most_bytes = 1e13;

std::int64_t rounded(double bytes) {
  const double blocks = std::ceil(std::clamp(bytes, 0.0, most_bytes) / allocator_block);
  return static_cast<std::int64_t>(blocks * allocator_block);
}

}  // namespace

bool TensorEditor::edit(std::size_t tensor, std::int64_t bytes) {
  const Tensor& old = recorded(tensor);
  if (old.bytes == 0 || old.bytes == bytes) return false;
  editor_.edit_tensor({make_id<TensorId>(tensor), bytes, -1, Provenance::assumed});
  before_ += static_cast<double>(old.bytes);
  ++edited_;
  return true;
}

void TensorEditor::resize(std::size_t tensor, double bytes) {
  // What has another size than the allocator's blocks is no edit if nothing changes.
  if (bytes == static_cast<double>(recorded(tensor).bytes)) return;
  if (edit(tensor, rounded(bytes))) after_ += static_cast<double>(rounded(bytes));
}

void TensorEditor::leave(std::size_t tensor, TaskId freed_in, TaskId allocated_in) {
  if (!edit(tensor, 0)) return;
  Tensor part = recorded(tensor);
  part.provenance = Provenance::assumed;
  const Tensor back = part;
  part.freed_in = freed_in;
  part.freed_offset_ns = 0;
  editor_.add_tensor(part, operator_of(tensor));
  part = back;
  part.allocated_in = allocated_in;
  part.allocated_offset_ns = 0;
  editor_.add_tensor(part, operator_of(tensor));
}

void TensorEditor::free_early(std::size_t tensor, TaskId freed_in) {
  if (!edit(tensor, 0)) return;
  Tensor part = recorded(tensor);
  part.provenance = Provenance::assumed;
  part.freed_in = freed_in;
  part.freed_offset_ns = 0;
  editor_.add_tensor(part, operator_of(tensor));
}

void TensorEditor::add_like(std::size_t tensor, double bytes, TaskId allocated_in,
                            TaskId freed_in) {
  Tensor part = recorded(tensor);
  part.allocated_in = allocated_in;
  part.freed_in = freed_in;
  add(part, bytes, operator_of(tensor));
}

void TensorEditor::add(Tensor part, double bytes, std::string_view operator_name) {
  part.provenance = Provenance::assumed;
  part.bytes = rounded(bytes);
  part.requested_bytes = -1;
  part.allocated_offset_ns = 0;
  part.freed_offset_ns = 0;
  after_ += static_cast<double>(part.bytes);
  editor_.add_tensor(part, operator_name);
}

std::string TensorEditor::note() const {
  if (edited_ == 0) return {};
  const std::vector<Tensor>& all = editor_.graph().context().tensors;
  const bool recorded = std::any_of(all.begin(), all.end(), [](const Tensor& tensor) {
    return tensor.provenance == Provenance::measured;
  });
  return fmt::format("; {} {}tensor{} {:.1f} MiB -> {:.1f} MiB, all steps together", edited_,
                     recorded ? "recorded " : "", edited_ == 1 ? "" : "s", before_ / 0x1p20,
                     after_ / 0x1p20);
}

}  // namespace foretrace
