// Tensor edits of an 8-bit optimizer: states in one byte per number, quantized block by block.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/edit/editor.h"

namespace foretrace {

struct QuantizationSettings {
  std::int64_t min_elements = 4096;  ///< smaller states stay as they are
  std::int64_t block_size = 2048;    ///< numbers that share a scale
};

/// What became of the states, for the notes of a what-if.
struct StateQuantization {
  std::size_t states = 0;
  std::size_t kept = 0;  ///< too small
  std::int64_t bytes_before = 0;
  std::int64_t bytes_after = 0;
  std::size_t temporaries = 0;  ///< of the update; gone, since one kernel per tensor does it all
  std::int64_t temporary_bytes = 0;
};

/// Tensors of category optimizer_state are fp32 now; each becomes a byte per number and four per
/// block, and two code tables come with the first. Nothing if the graph has no such tensors.
StateQuantization quantize_states(Editor& editor, const QuantizationSettings& settings);

}  // namespace foretrace
