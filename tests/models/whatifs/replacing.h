// What-ifs that put kernels in the place of others. Each of them is shown on a run with three
// streams (replaced_kernels_test.cpp), and the laws find out whether one is missing here.
#pragma once

#include <array>
#include <string_view>

namespace foretrace::test {

inline constexpr std::array<std::string_view, 17> replacing_what_ifs = {
    "attention_backend",   "bppsa",
    "compiled_region",     "cortex",
    "data_movement",       "dynamic_batching",
    "eight_bit_optimizer", "flash_attention",
    "fused_optimizer",     "fusion_aware_checkpointing",
    "horizontal_fusion",   "hypergraph_fusion",
    "kernel_fusion",       "metaflow_rules",
    "offload_pattern",     "sparse_convolution",
    "whole_program_fusion"};

}  // namespace foretrace::test
