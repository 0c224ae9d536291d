// TT-Rec: an embedding table becomes three small cores; a lookup multiplies its rows.
//
//   before   gather rows of [E x D]                            E D numbers in memory
//   after    per row not in the cache: [q1 x r][r x q2 r][r x q3]    p1 p2 p3 >= E, q1 q2 q3 = D
//   Lookups with recorded shapes, forward; their backward by three times the work.
//
// memory    a table of E D numbers becomes p1 q1 r + r p2 q2 r + r p3 q3.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/editing/kernels/kernel_names.h"
#include "models/editing/parameters/weight_tensors.h"
#include "models/hardware/costs/rates.h"
#include "models/whatifs/what_if.h"
#include "sim/core/text.h"
#include "sim/core/whole.h"

namespace foretrace::tt_embedding_parts {
namespace {

constexpr ParamInfo rank_param = {.name = "rank",
                                  .unit = "1",
                                  .doc = "Rank of the cores (the paper: 8 to 64).",
                                  .minimum = 1,
                                  .maximum = 4096};
constexpr ParamInfo hit_param = {
    .name = "hit",
    .unit = "1",
    .default_text = "0",
    .doc = "Share of looked-up rows that a cache of plain rows contains.",
    .minimum = 0,
    .maximum = 1};
constexpr ParamInfo efficiency_param = {
    .name = "efficiency",
    .unit = "1",
    .default_text = "-",
    .doc =
        "Share of the fp32 rate that the small products reach, as measured; -: their time is that "
        "of moving their slices of the cores through memory.",
    .minimum = 0.0001,
    .maximum = 1};
constexpr ParamInfo least_rows_param = {.name = "least_rows",
                                        .unit = "1",
                                        .default_text = "10000",
                                        .doc = "Smaller tables stay as they are.",
                                        .minimum = 1,
                                        .maximum = 1000000000000000.0};

constexpr ParamInfo table_rows_param = {
    .name = "table_rows",
    .unit = "1",
    .default_text = "0",
    .doc = "Rows of one table of fused lookups (FBGEMM), which record none; 0: these stay.",
    .minimum = 0,
    .maximum = 1000000000000000.0};
constexpr ParamInfo width_param = {.name = "width",
                                   .unit = "1",
                                   .default_text = "0",
                                   .doc = "Numbers in a row of these tables.",
                                   .minimum = 0,
                                   .maximum = 1e6};
constexpr ParamInfo tables_param = {.name = "tables",
                                    .unit = "1",
                                    .default_text = "1",
                                    .doc = "Tables that one fused lookup reads.",
                                    .minimum = 1,
                                    .maximum = 1e6};

struct Lookup {
  double table_rows = 0;
  double width = 0;
  double rows = 0;    // looked up
  double tables = 1;  // of a fused lookup
};

bool is_index(std::string_view type) { return contains_any(type, {"int", "long", "Int", "Long"}); }

/// An operator that looks rows up and does nothing else; generated kernels do more at once.
bool is_lookup(std::string_view op) {
  return contains_any(op, {"aten::embedding", "aten::_embedding_bag"}) &&
         !contains_any(op, {"renorm"});
}

// Forward: the table is the first input of two dimensions. Backward: the gradient of the rows is,
// or of more dimensions, and how many rows the table has follows from the lookup before.
std::optional<Lookup> lookup_of(const editing::KernelEditor& editor, TaskId kernel) {
  const std::string_view op = editor.operator_of(kernel);
  if (!is_lookup(op)) return std::nullopt;
  const bool backward = contains(op, "backward");
  const OperatorInputs inputs = editor.inputs_of(kernel);
  const auto types = input_types(editor.graph().names()[editor.graph().work(kernel).types]);
  Lookup lookup;
  for (std::size_t i = 0; i < inputs.tensors.size(); ++i) {
    const Dims* const dims = inputs.shape(i);
    if (dims == nullptr || dims->empty()) continue;
    if (lookup.width == 0 && dims->size() >= 2 && (backward || dims->size() == 2)) {
      lookup.width = static_cast<double>(dims->back());
      lookup.table_rows = backward ? 0 : static_cast<double>(dims->front());
    } else if (lookup.width > 0 && (i >= types.size() || is_index(types[i]))) {
      // Of indices and offsets of bags, the indices are more.
      lookup.rows = std::max(lookup.rows, element_count(*dims));
    }
  }
  if (lookup.width < 1 || lookup.rows < 1) return std::nullopt;
  return lookup;
}

/// Kernels that look up several tables at once, or update them; helpers sort and check indices.
bool is_fused_lookup(std::string_view kernel) {
  return contains_any(kernel, {"split_embedding", "dense_embedding", "ssd_embedding"}) &&
         contains_any(kernel, {"codegen_forward", "backward_codegen", "codegen_backward"}) &&
         contains_any(kernel, {"kernel"}) && !contains_any(kernel, {"find_long_segments"});
}

/// Such kernels are bound by the rows that they move: as many as fit into their time. A backward
/// kernel reads and writes rows of the table and reads gradients.
std::optional<Lookup> fused_lookup_of(const editing::KernelEditor& editor, TaskId kernel,
                                      const ParamValues& params) {
  const double width = params.number(width_param);
  if (!(params.number(table_rows_param) > 0) || !(width > 0)) return std::nullopt;
  const auto one = editor.moving_cost(1e9, KernelClass::gather);
  if (!one) return std::nullopt;
  const double fixed = shortest_kernel_ns(KernelClass::gather);
  const double rate = 1e9 / std::max(1.0, static_cast<double>(one->duration_ns) - fixed);
  const double moving =
      std::max(0.0, static_cast<double>(editor.graph().duration_ns(kernel)) - fixed) * rate;
  const bool backward = contains(editor.graph().name(kernel), "backward");
  const double rows = moving / (4 * width * (backward ? 3 : 2));
  return Lookup{params.number(table_rows_param), width, std::max(rows, 1.0),
                params.number(tables_param)};
}

struct Cores {
  double flops = 0;    // per row
  double moved = 0;    // numbers per row: its three slices, the product of two, the row
  double numbers = 0;  // of all cores
};
Cores cores_of(const Lookup& lookup, double rank) {
  const double p = std::ceil(std::cbrt(lookup.table_rows));
  const double q = std::max(1.0, std::cbrt(lookup.width));
  return {2 * q * q * rank * rank + 2 * q * q * q * rank,
          2 * q * rank + q * rank * rank + 2 * q * q * rank + q * q * q,
          p * q * rank + rank * p * q * rank + rank * p * q};
}

/// The products of so many rows. Their slices lie anywhere in the cores, each in one piece: memory
/// gives them at a rate between that of gathered numbers and that of a stream.
Cost products_cost(const Cores& cores, double rows, const ParamValues& params,
                   const Accelerator& accelerator) {
  const double fixed = shortest_kernel_ns(KernelClass::gather);
  const double peak_ns = rows * cores.flops / accelerator.vector_fp32_flops * 1e9;
  if (params.given(efficiency_param)) {
    return {to_whole(std::min(fixed + peak_ns / params.number(efficiency_param), 1e17)),
            Provenance::roofline, 0.67F, 1.5F};
  }
  const double streamed = memory_rate(accelerator, KernelClass::elementwise);
  const double gathered = memory_rate(accelerator, KernelClass::gather);
  const double spread = std::sqrt(streamed / gathered);
  const double moved_ns = rows * 4 * cores.moved / std::sqrt(streamed * gathered) * 1e9;
  return {to_whole(std::min(fixed + std::max(peak_ns, moved_ns), 1e17)), Provenance::roofline,
          static_cast<float>(1 / spread), static_cast<float>(spread)};
}

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  editing::KernelEditor editor(scenario);
  if ((params.number(table_rows_param) > 0) != (params.number(width_param) > 0)) {
    return Error{ErrorCode::bad_usage,
                 "parameters 'table_rows' and 'width': expected both of them or none"};
  }
  const double missed = 1 - params.number(hit_param);
  double before = 0;
  double after = 0;
  editing::WeightTensors weights(editor, editing::Fewer::numbers);
  std::size_t fused = 0;
  std::map<std::pair<double, double>, double> table_rows;  // by width and looked-up rows
  for (const TaskId kernel : editor.kernels()) {
    const bool is_fused = is_fused_lookup(editor.graph().name(kernel));
    fused += is_fused ? 1 : 0;
    auto lookup = is_fused ? fused_lookup_of(editor, kernel, params) : lookup_of(editor, kernel);
    if (!lookup) continue;
    double& rows = table_rows[{lookup->width, lookup->rows}];
    rows = std::max(rows, lookup->table_rows);
    if (!is_fused) lookup->table_rows = rows;
    if (lookup->table_rows < params.number(least_rows_param)) continue;
    if (scenario.accelerator == nullptr || !(scenario.accelerator->vector_fp32_flops > 0)) {
      return missing_cost("a tensor-train lookup");
    }
    const Cores cores = cores_of(*lookup, params.number(rank_param));
    const bool backward =
        contains(is_fused ? editor.graph().name(kernel) : editor.operator_of(kernel), "backward");
    const double bytes = 4 * (lookup->tables * cores.numbers + 2 * lookup->rows * lookup->width);
    FORETRACE_TRY(auto moved, editor.moving_cost(bytes, KernelClass::elementwise));
    const Cost products = products_cost(cores, lookup->rows * missed * (backward ? 3 : 1), params,
                                        *scenario.accelerator);
    editor.set(kernel, products.duration_ns > moved.duration_ns ? products : moved);
    const double table = 4 * lookup->tables * lookup->table_rows * lookup->width;
    before += table;
    after += 4 * lookup->tables * cores.numbers;
    if (!backward) weights.add(kernel, table, 4 * lookup->tables * cores.numbers);
  }
  if (editor.untouched() && fused > 0) {
    return Error{ErrorCode::no_match,
                 fmt::format("{} kernels of fused lookups record neither rows nor width of their "
                             "tables, expected table_rows=N and width=D",
                             fused)};
  }
  if (editor.untouched()) {
    return Error{ErrorCode::no_match,
                 "no embedding lookup of known shape with that many rows, expected a trace with "
                 "record_shapes=True and tables that are looked up one by one, or fused lookups "
                 "(FBGEMM) with table_rows and width"};
  }
  TensorEditor tensors(editor.edit());
  const std::string kept = weights.edit(tensors);
  return editor.finish(fmt::format("{}; tables of these calls {:.1f} MB -> {:.3f} MB ({:.0f}x){}{}",
                                   editor.sums_text(), before * 1e-6, after * 1e-6, before / after,
                                   tensors.note(), kept));
}

constexpr std::array<std::string_view, 5> assumptions = {
    "Sizes of the cores are as even as possible: cube roots of rows and of width, "
    "one rank for both.",
    "A row costs 2 q1 q2 r r + 2 q1 q2 q3 r FLOPs, backward three times that with "
    "the partial products computed again.",
    "Small products wait for memory: each row reads a slice of every core and writes the product "
    "of two, at a rate between those of gathers and of streams (the range). The log of the public "
    "code has 0.4 us per row, forward and backward, at rank 32 and width 64: 0.12 to 0.57 us here "
    "on a V100.",
    "The share `hit` of rows is read from a cache.",
    "A fused lookup of several tables (FBGEMM) moves as many rows as fit into its recorded time at "
    "the rate of gathers; all its tables have table_rows and width."};
constexpr std::array<std::string_view, 3> ignores = {
    "filling the cache, and its memory",
    "tables that now fit on one device, and the all-to-all that this saves", "accuracy"};
constexpr std::array params = {rank_param,       hit_param,   efficiency_param, least_rows_param,
                               table_rows_param, width_param, tables_param};

constexpr std::array trends = {Trend{&rank_param, Larger::is_slower},
                               Trend{&hit_param, Larger::is_faster}};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "tt_embedding",
    .summary = "Compute embedding rows from tensor-train cores instead of reading them.",
    .paper =
        "C. Yin, B. Acun, C. Wu, X. Liu, TT-Rec: Tensor Train Compression for Deep "
        "Learning Recommendation Models, MLSys 2021",
    .recipe =
        "Every embedding lookup of known shape takes launch overhead + max(rows outside the cache "
        "x (slices of the cores and partial products through memory, FLOPs of two small products "
        "at the fp32 rate), bytes of cores and cached rows); its backward three times as much.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate =
        "efficiency: time per row of a TT lookup on the device; hit: share of cached rows.",
    .identity = {.none_because = "a table becomes a product of small ones"},
    .params = params,
    .trends = trends,
    .apply = apply};

}  // namespace foretrace::tt_embedding_parts
