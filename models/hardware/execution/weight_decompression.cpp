// An option: pruned weights are stored in fewer bits and made whole between memory and multipliers.
#include <algorithm>
#include <array>

#include "models/hardware/execution/exec_model.h"

namespace foretrace::weight_decompression_parts {
namespace {

constexpr ParamInfo ratio_param = {.name = "ratio",
                                   .unit = "1",
                                   .doc = "Bytes of compressed weights over those of dense ones.",
                                   .minimum = 1e-4,
                                   .maximum = 4};
constexpr ParamInfo efficiency_param = {.name = "efficiency",
                                        .unit = "1",
                                        .default_text = "1",
                                        .doc =
                                            "Share of the bandwidth that loads of compressed "
                                            "weights reach; below 1 where they are irregular.",
                                        .minimum = 1e-3,
                                        .maximum = 1};
constexpr ParamInfo rate_param = {.name = "rate",
                                  .type = ParamType::bandwidth,
                                  .unit = "GB/s",
                                  .default_text = "0 B/s",
                                  .doc =
                                      "Dense bytes that leave the decompressor; 0: it never "
                                      "limits.",
                                  .minimum = 0,
                                  .maximum = 1e18};

void change_time(const ParamValues& params, const ExecWorkload& /*workload*/,
                 const OperatorWork& work, ExecTime& time) {
  if (!(work.weight_bytes > 0)) return;
  time.weights *= params.number(ratio_param) / params.number(efficiency_param);
  const double rate = params.number(rate_param) * 1e-9;
  if (rate > 0) time.compute = std::max(time.compute, work.weight_bytes / rate);
}

constexpr std::array<std::string_view, 2> assumptions = {
    "Every weight is stored compressed, by the same ratio in every layer.",
    "Compressed loads, the decompressor and the arithmetic run beside each other."};
constexpr std::array<std::string_view, 2> ignores = {
    "arithmetic: zeros that come out of the decompressor are multiplied",
    "memory that compression saves: weights are counted as dense"};
constexpr std::array params = {ratio_param, efficiency_param, rate_param};

}  // namespace

extern constexpr ExecModelInfo info = {
    .name = "weight_decompression",
    .summary = "Option: compressed weights are loaded and made whole on chip (XORNet).",
    .paper =
        "Sparsity-Aware Memory Interface Architecture Using Stacked XORNet Compression for "
        "Accelerating Pruned-DNN Models, MLSys 2023",
    .recipe =
        "Loading weights takes ratio / efficiency of its time; no operator is faster than its "
        "dense weights at the rate of the decompressor.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "ratio: of the compressed model; efficiency: bytes over time of a load.",
    .params = params,
    .change_time = change_time};

}  // namespace foretrace::weight_decompression_parts
