// Power cap: the device runs at another clock; bytes of its memory come as fast as before.
//
//   before   host    l1 l2 l3               clock 1
//            stream     [gemm 10 ms][relu 2 ms][gemm 10 ms]
//   after    host    l1 l2 l3               clock 0.8
//            stream     [gemm 12.5 ms ][relu 2 ms][gemm 12.5 ms ]
//   Arithmetic and the start and end of kernels follow the clock of the multiprocessors, bytes the
//   clock of the memory, which a cap leaves alone. Waits are simulated anew.
#include <array>

#include <fmt/format.h>

#include "models/editing/kernels/recorded_accelerator.h"
#include "models/whatifs/hardware/altered_device.h"
#include "models/whatifs/what_if.h"
#include "sim/core/whole.h"

namespace foretrace::power_cap_parts {
namespace {

constexpr ParamInfo clock_param = {.name = "clock",
                                   .unit = "x",
                                   .doc = "Clock of the multiprocessors / that of the recording.",
                                   .minimum = 0.1,
                                   .maximum = 2};
constexpr ParamInfo memory_param = {
    .name = "memory",
    .unit = "1",
    .default_text = "0",
    .doc = "Share of the change that kernels bound by bytes follow: caches run at that clock.",
    .minimum = 0,
    .maximum = 1,
    .optimistic = "0",
    .pessimistic = "0.3"};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  FORETRACE_TRY(auto from, editing::recorded_accelerator(
                               scenario, params.text(editing::recorded_accelerator_param)));
  const double clock = params.number(clock_param);
  editing::AlteredDevice to{*from, 0};
  for (double& rate : to.accelerator.peak_flops) rate *= clock;
  for (double& rate : to.accelerator.sustained_flops) rate *= clock;
  to.accelerator.vector_fp32_flops *= clock;
  to.accelerator.memory_bandwidth *= 1 + params.number(memory_param) * (clock - 1);
  to.accelerator.shortest_kernel_ns =
      to_whole(static_cast<double>(from->shortest_kernel_ns) / clock);
  Editor editor(scenario.graph);
  FORETRACE_TRY(auto times, editing::run_on(editor, *from, to));
  if (clock != 1 && times.kept == times.kernels) {
    return Error{ErrorCode::no_match,
                 fmt::format("no kernel follows the clock: {}", editing::to_text(times))};
  }
  editor.note(fmt::format("clock x {:g}: {}", clock, editing::to_text(times)));
  return editor.finish();
}

constexpr std::array<std::string_view, 3> assumptions = {
    "The recording ran at one clock throughout; where it was capped already, the clock is relative "
    "to that.",
    "Arithmetic and the start and end of a kernel follow the clock; the memory keeps its own.",
    "The clock under a cap is measured or read (nvidia-smi -q -d CLOCK): it falls less than power "
    "does, by an amount that depends on the program."};
constexpr std::array<std::string_view, 2> ignores = {
    "a clock that changes within a step, as kernels need more or less power",
    "the host, collectives and copies with the host"};
constexpr std::array params = {clock_param, memory_param, editing::recorded_accelerator_param};
constexpr std::array<std::string_view, 1> conflicts = {"mig_slice"};

constexpr std::array trends = {Trend{&clock_param, Larger::is_faster}};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "power_cap",
    .summary = "Run the device at another clock, as under a power cap.",
    .paper =
        "P. Patel et al., Characterizing Power Management Opportunities for LLMs in the Cloud, "
        "ASPLOS 2024; J. You, J.-W. Chung, M. Chowdhury, Zeus: Understanding and Optimizing GPU "
        "Energy Consumption of DNN Training, NSDI 2023",
    .recipe =
        "Every kernel takes measured time x model time at the new clock / model time at the "
        "recorded one: arithmetic by the clock, start and end by the clock, bytes by the memory.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "clock: nvidia-smi dmon -s c under the cap, while the program runs.",
    .identity = {.setting = "clock=1"},
    .params = params,
    .trends = trends,
    .apply = apply,
    .stage = ApplyStage::device,
    .conflicts = conflicts,
    .alters_device = true};

}  // namespace foretrace::power_cap_parts
