// An option: a buffer on chip keeps weights from one inference to the next.
#include <algorithm>
#include <array>

#include "models/hardware/execution/exec_model.h"

namespace foretrace::weight_buffer_parts {
namespace {

constexpr ParamInfo size_param = {.name = "size",
                                  .type = ParamType::bytes,
                                  .unit = "KiB",
                                  .doc = "Bytes of weights that stay; 0 changes nothing.",
                                  .minimum = 0,
                                  .maximum = 1e15};

void change_time(const ParamValues& params, const ExecWorkload& workload, const OperatorWork& work,
                 ExecTime& time) {
  if (!(workload.weight_bytes > 0) || !(work.weight_bytes > 0)) return;
  time.weights *= 1 - std::min(1.0, params.number(size_param) / workload.weight_bytes);
}

constexpr std::array<std::string_view, 2> assumptions = {
    "What stays is the same share of every layer: a SubGraph is narrower, not shorter.",
    "Queries ask for the same network: nothing in the buffer is replaced."};
constexpr std::array<std::string_view, 2> ignores = {
    "loading the buffer, once before the first inference",
    "the scheduler that chooses a SubNet for each query and what stays for the next ones"};
constexpr std::array params = {size_param};

}  // namespace

extern constexpr ExecModelInfo info = {
    .name = "weight_buffer",
    .summary = "Option: a buffer keeps weights between inferences (SUSHI).",
    .paper =
        "P. Behnam et al., Subgraph Stationary Hardware-Software Inference Co-Design (SUSHI), "
        "MLSys 2023",
    .recipe = "Weights of all layers are loaded but for min(1, size / weights of the model).",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "size: the bytes of the buffer.",
    .params = params,
    .change_time = change_time};

}  // namespace foretrace::weight_buffer_parts
