// Stretches of a run that do the same several times in a row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/editing/kernels/kernel_editor.h"

namespace foretrace::editing {

/// Items [begin, begin + count x period) are `count` equal runs; period 0: there is no such
/// stretch.
struct Repeats {
  std::size_t begin = 0;
  std::size_t period = 0;
};

/// The longest stretch of exactly equal runs, no more of them than `count`; of equally long ones
/// the first.
[[nodiscard]] Repeats longest_repeats(std::span<const std::uint64_t> items, std::size_t count);

/// What kernels are taken by to be the same.
enum class SameBy : std::uint8_t {
  work,            ///< name, operator, shapes and types
  operator_called  ///< the operator, or the name where that is not known; sizes may differ
};
/// A number per kernel, equal for those of the same work or operator in the same layer.
[[nodiscard]] std::vector<std::uint64_t> kernel_items(const KernelEditor& editor,
                                                      std::span<const TaskId> kernels, SameBy by);

/// True if the trace tells the layer of one of them.
[[nodiscard]] bool knows_layers(const TaskGraph& graph, std::span<const TaskId> kernels);

}  // namespace foretrace::editing
