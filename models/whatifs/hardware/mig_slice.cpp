// MIG slice: the program runs on a part of the device, with its multiprocessors and memory.
//
//   before   stream  [gemm of 432 blocks: 1 ms][gemm of 20 blocks: 0.2 ms]    108 multiprocessors
//   after    stream  [gemm of 432 blocks: 2.6 ms         ][gemm of 20 blocks: 0.2 ms]   42 of them
//   Arithmetic has the share `compute` of the rate, bytes the share `memory` of the bandwidth.
//   Kernels of no more blocks than the slice has multiprocessors lose no arithmetic.
//
// memory    the slice has the share `memory` of the device's.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/editing/kernels/recorded_accelerator.h"
#include "models/whatifs/hardware/altered_device.h"
#include "models/whatifs/what_if.h"
#include "sim/core/whole.h"

namespace foretrace::mig_slice_parts {
namespace {

constexpr ParamInfo compute_param = {.name = "compute",
                                     .unit = "1",
                                     .doc =
                                         "Share of the multiprocessors: 0.39 for 3g of an A100 (42 "
                                         "of 108), 0.455 of an H100 SXM (60 of 132).",
                                     .minimum = 0.01,
                                     .maximum = 1};
constexpr ParamInfo memory_param = {
    .name = "memory",
    .unit = "1",
    .default_text = "0",
    .doc =
        "Share of memory and bandwidth: 0.5 for 3g.40gb (4 of 8); 0: as compute; 1: as under MPS.",
    .minimum = 0,
    .maximum = 1};

/// Most bytes of tensors that are live at once on a device, in the order of the program; the driver
/// and what the allocator keeps come on top. 0: no tensor is known.
std::int64_t most_live_bytes(const TaskGraph& graph) {
  using Device = std::pair<std::int32_t, std::int32_t>;  // rank, number
  struct Memory {
    std::int64_t live = 0;
    std::map<TaskId, std::array<std::int64_t, 2>> moves;  // freed, allocated
  };
  std::map<Device, Memory> devices;
  for (const Tensor& tensor : graph.context().tensors) {
    Memory& memory = devices[{graph.rank_of(tensor), tensor.device}];
    if (tensor.allocated_in == none<TaskId>) {
      memory.live += tensor.bytes;
    } else {
      memory.moves[tensor.allocated_in][1] += tensor.bytes;
    }
    if (tensor.freed_in != none<TaskId>) memory.moves[tensor.freed_in][0] += tensor.bytes;
  }
  std::int64_t most = 0;
  for (auto& [device, memory] : devices) {
    most = std::max(most, memory.live);
    for (const auto& [task, move] : memory.moves) {
      memory.live += move[1] - move[0];
      most = std::max(most, memory.live);
    }
  }
  return most;
}

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  FORETRACE_TRY(auto from, editing::recorded_accelerator(
                               scenario, params.text(editing::recorded_accelerator_param)));
  const double compute = params.number(compute_param);
  const double memory = params.number(memory_param) > 0 ? params.number(memory_param) : compute;
  editing::AlteredDevice to{*from, 0};
  Accelerator& slice = to.accelerator;
  for (double& rate : slice.peak_flops) rate *= compute;
  for (double& rate : slice.sustained_flops) rate *= compute;
  slice.vector_fp32_flops *= compute;
  slice.memory_bandwidth *= memory;
  slice.memory_bytes = to_whole(static_cast<double>(slice.memory_bytes) * memory);
  // The nearest: shares are written with few digits, so that 0.39 of 108 means 42.
  slice.multiprocessors = std::max<std::int32_t>(
      1, static_cast<std::int32_t>(to_whole(from->multiprocessors * compute)));
  to.blocks_that_fit = slice.multiprocessors;
  const std::int64_t live = most_live_bytes(scenario.graph);
  const auto gib = [](std::int64_t bytes) { return static_cast<double>(bytes) / 0x1p30; };
  if (memory < 1 && live > slice.memory_bytes) {
    return Error{ErrorCode::no_match,
                 fmt::format("does not fit: needs at least {:.1f} GiB, the slice has {:.1f} of "
                             "{:.1f} GiB",
                             gib(live), gib(slice.memory_bytes), gib(from->memory_bytes))};
  }
  Editor editor(scenario.graph);
  FORETRACE_TRY(auto times, editing::run_on(editor, *from, to));
  const bool is_whole = compute == 1 && memory == 1;
  if (!is_whole && times.kept == times.kernels) {
    return Error{ErrorCode::no_match,
                 fmt::format("no kernel needs more than the slice: {}", editing::to_text(times))};
  }
  editor.note(fmt::format("{} of {} multiprocessors, {:.0f} GB/s, {:.1f} GiB ({}): {}",
                          slice.multiprocessors, from->multiprocessors,
                          slice.memory_bandwidth * 1e-9, gib(slice.memory_bytes),
                          live > 0 ? fmt::format("the run needs at least {:.1f}", gib(live))
                                   : std::string("check that it fits: no memory is recorded"),
                          editing::to_text(times)));
  return editor.finish();
}

constexpr std::array<std::string_view, 3> assumptions = {
    "What runs on the rest of the device does not slow this part: MIG separates caches and memory.",
    "Kernels of more blocks than the slice has multiprocessors have `compute` of the arithmetic "
    "rate, whatever their last wave is.",
    "All kernels share `memory` of the bandwidth as they shared all of it."};
constexpr std::array<std::string_view, 3> ignores = {
    "the host, which other programs on the machine use, too", "copies with the host, collectives",
    "kernels that libraries choose by the number of multiprocessors"};
constexpr std::array params = {compute_param, memory_param, editing::recorded_accelerator_param};
constexpr std::array<std::string_view, 1> conflicts = {"power_cap"};

constexpr std::array trends = {Trend{&compute_param, Larger::is_faster},
                               Trend{&memory_param, Larger::is_faster}};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "mig_slice",
    .summary = "Run on a part of the device: a MIG slice, or MPS with a share of the threads.",
    .paper =
        "B. Li, T. Patel, S. Samsi, V. Gadepally, D. Tiwari, MISO: Exploiting Multi-Instance GPU "
        "Capability on Multi-Tenant GPU Clusters, SoCC 2022; NVIDIA Multi-Instance GPU User Guide",
    .recipe =
        "Every kernel takes measured time x model time on the slice / model time on the device. "
        "Kernels with no more blocks than the slice has multiprocessors keep their arithmetic.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "nothing: compute and memory follow from the profile (nvidia-smi mig -lgip).",
    .identity = {.setting = "compute=1"},
    .params = params,
    .trends = trends,
    .apply = apply,
    .stage = ApplyStage::device,
    .conflicts = conflicts,
    .alters_device = true};

}  // namespace foretrace::mig_slice_parts
