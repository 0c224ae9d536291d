// A microcontroller that interprets a model: time grows with operations, weights lie in flash.
#include <array>

#include "models/hardware/execution/exec_model.h"

namespace foretrace::interpreter_parts {
namespace {

constexpr ParamInfo rate_param = {.name = "operations_per_us",
                                  .unit = "1",
                                  .doc =
                                      "Operations (two per multiplication and addition) per "
                                      "microsecond: the slope of the law.",
                                  .minimum = 1e-6,
                                  .maximum = 1e9};
constexpr ParamInfo start_param = {.name = "start",
                                   .type = ParamType::time,
                                   .unit = "ms",
                                   .default_text = "0 ns",
                                   .doc = "Once per inference: the intercept of the law.",
                                   .minimum = 0,
                                   .maximum = 1e12};
constexpr ParamInfo dispatch_param = {.name = "dispatch",
                                      .type = ParamType::time,
                                      .unit = "us",
                                      .default_text = "0 ns",
                                      .doc =
                                          "The interpreter's own work per operator, where it was "
                                          "measured apart from the intercept.",
                                      .minimum = 0,
                                      .maximum = 1e12};
constexpr ParamInfo flash_param = {.name = "flash",
                                   .type = ParamType::bytes,
                                   .unit = "KiB",
                                   .doc = "Memory for weights and program.",
                                   .minimum = 1,
                                   .maximum = 1e12};
constexpr ParamInfo program_param = {.name = "program",
                                     .type = ParamType::bytes,
                                     .unit = "KiB",
                                     .default_text = "0 B",
                                     .doc = "Flash that the interpreter and its kernels take.",
                                     .minimum = 0,
                                     .maximum = 1e12};
constexpr ParamInfo state_param = {.name = "state",
                                   .type = ParamType::bytes,
                                   .unit = "KiB",
                                   .default_text = "0 B",
                                   .doc = "Memory beside the arena that the interpreter takes.",
                                   .minimum = 0,
                                   .maximum = 1e12};

ExecTime time(const ParamValues& params, const ExecDevice& /*device*/, const OperatorWork& work) {
  ExecTime time;
  time.fixed = params.number(dispatch_param) * work.kernels;
  const double operations =
      work.kind == WorkKind::vector ? work.numbers : 2 * work.multiplications();
  time.compute = operations / params.number(rate_param) * 1e3;
  return time;
}

constexpr std::array<std::string_view, 3> assumptions = {
    "Models come from one search space: kinds of layers are mixed as in those that the law was "
    "fitted to.",
    "Weights are read from flash in place; activations lie in one arena, where an operator's input "
    "and output are live together.",
    "Nothing else runs on the device."};
constexpr std::array<std::string_view, 3> ignores = {
    "what single kinds of layers cost: depthwise convolutions reach fewer operations per second",
    "branches, whose tensors live longer than one operator",
    "scratch buffers of kernels, and tables beside the weights in the file of a model"};
constexpr std::array params = {rate_param,  start_param,   dispatch_param,
                               flash_param, program_param, state_param};

}  // namespace

extern constexpr ExecModelInfo info = {
    .name = "interpreter",
    .summary =
        "A microcontroller: latency linear in operations, weights in flash, an arena in RAM.",
    .paper =
        "C. Banbury et al., MicroNets: Neural Network Architectures for Deploying TinyML "
        "Applications on Commodity Microcontrollers, MLSys 2021; R. David et al., TensorFlow "
        "Lite Micro, MLSys 2021",
    .recipe =
        "start + operations / operations_per_us + dispatch per operator. Memory: the largest "
        "input and output of one operator; flash: weights and the program.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "start and operations_per_us: a line through the latencies of two models.",
    .params = params,
    .time = time,
    .provenance = Provenance::table,
    .start = &start_param,
    .weight_store = &flash_param,
    .store_taken = &program_param,
    .memory_taken = &state_param};

}  // namespace foretrace::interpreter_parts
