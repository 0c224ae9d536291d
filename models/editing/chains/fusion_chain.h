// Chains of kernels that a compiler would fuse, and the time of the fused kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "models/editing/kernels/kernel_editor.h"
#include "sim/core/params.h"
#include "sim/graph/task_graph.h"

namespace foretrace::editing {

/// Parameters that what-ifs on chains of launches have in common.
inline constexpr ParamInfo max_segment_param = {
    .name = "max_segment",
    .type = ParamType::time,
    .unit = "us",
    .default_text = "100 us",
    .doc = "Host time before a launch beyond which it starts a new chain.",
    .minimum = 0,
    .maximum = 1e12};
inline constexpr ParamInfo kept_host_param = {
    .name = "kept_host",
    .unit = "1",
    .default_text = "0.1",
    .doc = "Share of the host time between replaced launches that stays.",
    .minimum = 0,
    .maximum = 1,
    .optimistic = "0",
    .pessimistic = "0.3"};
/// Between launches of Triton kernels the host takes longer than between those of pointwise kernels
/// of the same program: 28 us to 19 us (Segment Anything, encoder compiled, A100) and 19.4 us to
/// 9.6 us (a compiled GPT-2, H100), in the median. Half to all of one launch more, over the four
/// that a chain of five saves: 0.12 to 0.25. No pair that is predicted with it went in.
inline constexpr ParamInfo compiled_host_param = {
    .name = "kept_host",
    .unit = "1",
    .default_text = "0.2",
    .doc =
        "Share of the host time between replaced launches that stays: compiled code launches a "
        "kernel more slowly.",
    .minimum = 0,
    .maximum = 1,
    .optimistic = "0",
    .pessimistic = "0.4"};

struct FusionSettings {
  std::int64_t max_segment_ns = 0;  ///< more host time before a launch than this cuts the chain
  std::size_t max_length = 16;
  double side_inputs = 0.5;  ///< other inputs per kernel, in sizes of the chained tensor
  double kept_writes = 0;    ///< share of intermediates that are still written
  double recomputed = 0;  ///< share of saved inputs, one per kernel, that is recomputed, not read
};

/// Launches in program order and their kernels, next to each other on one stream.
struct FusionChain {
  std::vector<TaskId> calls;
  std::vector<TaskId> kernels;
};

/// Chains of at least two pointwise kernels with at most one normalization, softmax or reduction,
/// among the selected kernels (flags by task), in the order of lanes; cut where a wait keeps
/// kernels from becoming one.
[[nodiscard]] std::vector<FusionChain> find_chains(const KernelEditor& editor,
                                                   const std::vector<bool>& selected,
                                                   const FusionSettings& settings);

/// Sum of the kernels without the reads and writes of what passes from one to the next, and with
/// one ramp-up instead of many.
[[nodiscard]] std::int64_t fused_ns(const KernelEditor& editor, const FusionChain& chain,
                                    const FusionSettings& settings);

/// The chain in pieces that can become one kernel each; those of a single kernel are left out.
[[nodiscard]] std::vector<FusionChain> cut(const KernelEditor& editor, const FusionChain& chain);

}  // namespace foretrace::editing
