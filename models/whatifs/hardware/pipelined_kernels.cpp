// ALCOP: products load the next tile while they compute on this one.
//
//   before   load | compute | load | compute            one tile in shared memory
//   after    load | load    | load | ...                `stages` tiles: loads run ahead of
//                 | compute | compute                   the arithmetic
//   Products and convolutions whose names tell of no multi-stage kernel take f of their time.
//
// memory    none.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/kernels/recorded_accelerator.h"
#include "models/whatifs/what_if.h"

namespace foretrace::pipelined_kernels_parts {
namespace {

constexpr ParamInfo stages_param = {.name = "stages",
                                    .unit = "1",
                                    .default_text = "4",
                                    .doc = "Tiles in flight; 1 changes nothing.",
                                    .minimum = 1,
                                    .maximum = 16};
constexpr ParamInfo latency_param = {.name = "latency",
                                     .type = ParamType::time,
                                     .unit = "us",
                                     .default_text = "600 ns",
                                     .doc = "Latency of a load from memory to shared memory.",
                                     .minimum = 0,
                                     .maximum = 1000000.0,
                                     .optimistic = "800 ns",
                                     .pessimistic = "400 ns"};
constexpr ParamInfo blocks_param = {.name = "blocks",
                                    .unit = "1",
                                    .default_text = "2",
                                    .doc = "Thread blocks that share a multiprocessor.",
                                    .minimum = 1,
                                    .maximum = 32,
                                    .optimistic = "1",
                                    .pessimistic = "4"};

struct Tiles {
  double m = 128;
  double n = 128;
  double k = 32;
  double latency_ns = 0;
  double stages = 1;
  double blocks = 1;
};

// Time of `steps` steps over the inner size; l and c of one block of a multiprocessor.
double pipelined_ns(const Tiles& tiles, double stages, double steps, double load, double compute) {
  const double hidden = (tiles.latency_ns + load + compute) / (stages * tiles.blocks);
  return load + tiles.latency_ns + (steps - 1) * std::max({compute, load, hidden}) + compute;
}

bool is_pipelined(std::string_view name) {
  constexpr std::array parts = {"stage", "xmma",  "cutlass_80",  "cutlass_90",  "nvjet",
                                "sm80_", "sm90_", "ampere_fp16", "ampere_bf16", "Cijk_"};
  return std::any_of(parts.begin(), parts.end(),
                     [&](const char* part) { return name.find(part) != std::string_view::npos; });
}

double factor_of(const Accelerator& on, const KernelDescription& kernel, const Tiles& tiles) {
  const double multiprocessors = std::max(on.multiprocessors, 1);
  const double rate =
      sustained_rate(on, kernel.traits.precision, KernelClass::gemm) / multiprocessors * 1e-9;
  const double bandwidth = on.memory_bandwidth / multiprocessors * 1e-9;
  const int bytes = bytes_per_number(kernel.traits.precision);
  if (!(rate > 0) || bytes == 0) return 1;
  // Tiles of one row or column of a product come from the cache for all but one multiprocessor.
  const double reuse = std::max(1.0, std::sqrt(multiprocessors));
  const double load = (tiles.m + tiles.n) * tiles.k * bytes / bandwidth / reuse;
  const double compute = 2 * tiles.m * tiles.n * tiles.k / rate;
  const double inner = kernel.amount.gemm ? kernel.amount.gemm->k : 1024;
  const double steps = std::max(1.0, inner / tiles.k);
  return pipelined_ns(tiles, tiles.stages, steps, load, compute) /
         pipelined_ns(tiles, 1, steps, load, compute);
}

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  editing::KernelEditor editor(scenario);
  if (editor.kernels().empty()) return Error{ErrorCode::no_match, "no kernels"};
  for (const DeviceInfo& device : scenario.graph.context().devices) {
    if (device.compute_major > 0 && device.compute_major < 8) {
      return Error{
          ErrorCode::unsupported,
          fmt::format("{} copies to shared memory only through registers, expected compute "
                      "capability 8.0 or later, got {}.{}",
                      device.name, device.compute_major, device.compute_minor)};
    }
  }
  FORETRACE_TRY(auto on, editing::recorded_accelerator(
                             scenario, params.text(editing::recorded_accelerator_param)));
  Tiles tiles;
  tiles.latency_ns = params.number(latency_param);
  tiles.stages = params.number(stages_param);
  tiles.blocks = params.number(blocks_param);
  for (const TaskId kernel : editor.kernels()) {
    const KernelDescription& known = editor.about(kernel);
    const bool product = known.traits.kernel_class == KernelClass::gemm ||
                         known.traits.kernel_class == KernelClass::convolution;
    if (!product || !known.traits.compute_bound || is_pipelined(scenario.graph.name(kernel))) {
      continue;
    }
    Cost cost = editing::moved_share(scenario.graph.duration_ns(kernel), known.traits.kernel_class,
                                     factor_of(*on, known, tiles));
    if (tiles.stages > 1) cost.high = std::max(cost.high, 1.25F);
    editor.set(kernel, cost);
  }
  if (editor.untouched()) {
    return Error{ErrorCode::no_match, "no product or convolution that is not pipelined already"};
  }
  return editor.finish(editor.sums_text());
}

constexpr std::array<std::string_view, 3> assumptions = {
    "One step of a tile loads (m + n) k numbers at a multiprocessor's share of the "
    "bandwidth and does 2 m n k FLOPs at its share of the rate.",
    "Kernels of Volta and Turing, SIMT kernels and generated ones without \"stage\" "
    "in their name are not pipelined; those named with stages, xmma, cutlass for "
    "Ampere or nvjet are.",
    "Blocks on a multiprocessor hide each other's latency, as stages do."};
constexpr std::array<std::string_view, 3> ignores = {
    "shared memory that more stages need", "the second level from shared memory to registers",
    "devices without asynchronous copies (before compute capability 8.0) are "
    "declined"};
constexpr std::array params = {stages_param, latency_param, blocks_param,
                               editing::recorded_accelerator_param};

constexpr std::array trends = {Trend{&stages_param, Larger::is_faster}};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "pipelined_kernels",
    .summary = "Overlap loads and arithmetic inside products by multi-stage tiles.",
    .paper =
        "G. Huang et al., ALCOP: Automatic Load-Compute Pipelining in Deep Learning "
        "Compiler for AI-GPUs, MLSys 2023",
    .recipe =
        "Every product or convolution without pipelining takes T(stages) / T(1) of its "
        "time beyond the ramp-up, T(s) = l + d + (K - 1) max(c, l, (d + l + c) / (s "
        "blocks)) + c for K steps of loading l, latency d and arithmetic c of one tile "
        "of one multiprocessor.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "latency, blocks: one kernel compiled with one and with several stages.",
    .identity = {.setting = "stages=1"},
    .params = params,
    .trends = trends,
    .apply = apply,
    .basis = Basis::formula};

}  // namespace foretrace::pipelined_kernels_parts
