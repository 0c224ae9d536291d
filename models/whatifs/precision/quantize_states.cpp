#include "models/whatifs/precision/quantize_states.h"

namespace foretrace {
namespace {

// Blocks of the allocator; a state and its scales are two of them.
constexpr std::int64_t block_bytes = 512;
constexpr std::int64_t state_item_bytes = 4;
constexpr std::int64_t scale_bytes = 4;
// 256 fp32 values for signed numbers (first moment), as many for unsigned ones (second).
constexpr std::int64_t code_table_bytes = 1024;

std::int64_t rounded(std::int64_t bytes) {
  return (bytes + block_bytes - 1) / block_bytes * block_bytes;
}

class Quantizer {
 public:
  Quantizer(Editor& editor, const QuantizationSettings& settings)
      : editor_(editor), graph_(editor.graph()), settings_(settings) {}

  StateQuantization run() {
    const auto& tensors = graph_.context().tensors;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].category == TensorCategory::optimizer_state && tensors[i].bytes > 0) {
        shrink(make_id<TensorId>(i), tensors[i]);
      }
    }
    // Without states the temporaries are those of an update that is none of ours.
    for (std::size_t i = 0; i < tensors.size() && done_.states > 0; ++i) {
      const Tensor& tensor = tensors[i];
      if (tensor.category == TensorCategory::temporary && tensor.phase == Phase::update &&
          tensor.bytes > 0) {
        ++done_.temporaries;
        done_.temporary_bytes += tensor.bytes;
        editor_.edit_tensor({make_id<TensorId>(i), 0, 0, Provenance::assumed});
      }
    }
    return done_;
  }

 private:
  void shrink(TensorId id, const Tensor& tensor) {
    const std::int64_t bytes = tensor.requested_bytes > 0 ? tensor.requested_bytes : tensor.bytes;
    const std::int64_t elements = bytes / state_item_bytes;
    if (elements < settings_.min_elements) {
      ++done_.kept;
      return;
    }
    const std::int64_t blocks = (elements + settings_.block_size - 1) / settings_.block_size;
    const std::int64_t now = rounded(elements) + rounded(blocks * scale_bytes);
    if (done_.states == 0) add_code_tables(tensor);
    ++done_.states;
    done_.bytes_before += tensor.bytes;
    done_.bytes_after += now;
    editor_.edit_tensor({id, now, now, Provenance::scaled});
  }

  void add_code_tables(const Tensor& first) {
    for (int i = 0; i < 2; ++i) {
      Tensor table = first;
      table.bytes = table.requested_bytes = code_table_bytes;
      table.provenance = Provenance::assumed;
      editor_.add_tensor(table, graph_.names()[first.operator_name]);
    }
  }

  Editor& editor_;
  const TaskGraph& graph_;
  const QuantizationSettings& settings_;
  StateQuantization done_;
};

}  // namespace

StateQuantization quantize_states(Editor& editor, const QuantizationSettings& settings) {
  return Quantizer(editor, settings).run();
}

}  // namespace foretrace
