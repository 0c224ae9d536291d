// What-ifs on graphs that are written and shown as text, several streams and waits included.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/graph/change.h"
#include "tests/models/toy_run.h"
#include "tests/sim/edit/law_oracle.h"
#include "tests/sim/graph/text_graph.h"

namespace foretrace::test {

/// Kernels as libraries name them.
inline std::vector<TextKind> text_kinds() {
  return {
      {"ar", "ncclDevKernel_AllReduce_Sum_f32"},
      {"relu", "vectorized_elementwise_kernel<4, float>", "aten::relu", "[[1000000]]",
       Phase::forward},
      {"gelu", "vectorized_elementwise_kernel<4, float>", "aten::gelu", "[[1000000]]",
       Phase::forward},
      {"dgelu", "vectorized_elementwise_kernel<4, float>", "aten::gelu_backward",
       "[[1000000], [1000000]]", Phase::backward},
      {"gemm", "ampere_sgemm_128x64_tn", "aten::mm", "[[8, 1024], [1024, 1024]]", Phase::forward},
      {"dgemm", "ampere_sgemm_128x64_nt", "aten::mm", "[[8, 1024], [1024, 1024]]", Phase::backward},
      {"conv", "implicit_convolve_sgemm<float>", "aten::cudnn_convolution", {}, Phase::forward},
      {"norm", "vectorized_layer_norm_kernel<float>", "aten::native_layer_norm", "[[1000000]]",
       Phase::forward},
      {"q", "ampere_sgemm_128x64_tn", "aten::addmm", "[[1024], [2048, 1024], [1024, 1024]]",
       Phase::forward, "Attention/q"},
      {"k", "ampere_sgemm_128x64_tn", "aten::addmm", "[[1024], [2048, 1024], [1024, 1024]]",
       Phase::forward, "Attention/k"},
      {"v", "ampere_sgemm_128x64_tn", "aten::addmm", "[[1024], [2048, 1024], [1024, 1024]]",
       Phase::forward, "Attention/v"},
      {"scores", "ampere_fp16_s16816gemm_fp16_128x64_tn", "aten::bmm",
       "[[32, 1024, 64], [32, 64, 1024]]", Phase::forward},
      {"softmax", "softmax_warp_forward<c10::Half>", {}, {}, Phase::forward},
      {"drop", "fused_dropout_kernel<c10::Half>", {}, {}, Phase::forward},
      {"values", "ampere_fp16_s16816gemm_fp16_64x64_nn", "aten::bmm",
       "[[32, 1024, 1024], [32, 1024, 64]]", Phase::forward},
      {"spmm", "cusparse::csrmm_kernel", "aten::_sparse_mm", "[[500, 1000], [1000, 64]]",
       Phase::forward},
      {"tspmm", "cusparse::csrmm_kernel", "aten::_sparse_mm", "[[1000, 500], [500, 64]]",
       Phase::forward},
      {"gather", "gather_kernel", {}, {}, Phase::forward},
      {"scatter", "scatter_kernel", {}, {}, Phase::forward},
      {"index", "indexSelectLargeIndex", "aten::index_select", "[[1000, 32], [10]]",
       Phase::forward},
      {"u", "cudaLaunchKernel", {}, {}, Phase::update},
      {"mul", "elementwise_kernel<float>", "aten::mul_", "[[50000000]]", Phase::update},
      {"sqrt", "elementwise_kernel<float>", "aten::sqrt", "[[50000000]]", Phase::update},
      {"div", "elementwise_kernel<float>", "aten::addcdiv_", "[[50000000]]", Phase::update},
  };
}

inline NamedGraph text_run(std::string_view text) { return named_graph(text, text_kinds()); }

/// The graph after a what-if; fails the test if it declines or breaks a law. New tasks are called
/// what they do, '_' for blanks.
inline NamedGraph after(const NamedGraph& before, const WhatIfInfo& info, const Given& given = {},
                        const Accelerator* accelerator = nullptr) {
  const auto change = apply_to(before.graph, info, given, accelerator);
  REQUIRE_MESSAGE(change.ok(), change.error().message);
  auto committed = commit(before.graph, *change, Checks::none);
  REQUIRE_MESSAGE(committed.ok(), committed.error().message);
  const LawOracle oracle(before.graph, *change, *committed);
  CHECK(oracle.broken_path() == "");
  CHECK(oracle.broken_time() == "");
  const Status laws = check_laws(before.graph, *change, *committed);
  CHECK_MESSAGE(laws.ok(), laws.error().message);
  NamedGraph result;
  result.names.resize(committed->graph.size());
  for (std::size_t t = 0; t < committed->graph.size(); ++t) {
    result.names[t] = committed->graph.name(make_id<TaskId>(t));
    std::replace(result.names[t].begin(), result.names[t].end(), ' ', '_');
  }
  for (std::size_t t = 0; t < before.names.size(); ++t) {
    const TaskId id = committed->new_id.empty() ? make_id<TaskId>(t) : committed->new_id[t];
    if (id != none<TaskId>) result.names[index(id)] = before.names[t];
  }
  result.graph = std::move(committed->graph);
  return result;
}

}  // namespace foretrace::test
