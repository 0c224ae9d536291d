// A systolic array: rows x cols units that multiply and add, and hand operands to their neighbours.
#include <algorithm>
#include <array>
#include <cmath>

#include "models/hardware/execution/array_parts.h"
#include "models/hardware/execution/exec_model.h"

namespace foretrace::systolic_parts {
namespace {

using execution::clock_param;
using execution::dispatch_param;

constexpr ParamInfo rows_param = {.name = "rows",
                                  .type = ParamType::integer,
                                  .unit = "1",
                                  .doc = "Units of a column.",
                                  .minimum = 1,
                                  .maximum = 1e6};
constexpr ParamInfo cols_param = {.name = "cols",
                                  .type = ParamType::integer,
                                  .unit = "1",
                                  .doc = "Units of a row.",
                                  .minimum = 1,
                                  .maximum = 1e6};
constexpr ParamInfo arrays_param = {.name = "arrays",
                                    .type = ParamType::integer,
                                    .unit = "1",
                                    .default_text = "1",
                                    .doc = "Equal arrays that share the tiles of a product.",
                                    .minimum = 1,
                                    .maximum = 1e6};
constexpr ParamInfo dataflow_param = {.name = "dataflow",
                                      .type = ParamType::text,
                                      .default_text = "os",
                                      .doc =
                                          "What stays in the units: os, the sums of an output "
                                          "tile; ws, a tile of the weights.",
                                      .choices = "os|ws"};
constexpr ParamInfo pipelined_param = {.name = "pipelined",
                                       .type = ParamType::boolean,
                                       .default_text = "false",
                                       .doc =
                                           "The next tile enters while the last one leaves: "
                                           "filling and draining count once per product."};
constexpr ParamInfo buffer_param = {
    .name = "buffer",
    .type = ParamType::bytes,
    .unit = "KiB",
    .default_text = "0 B",
    .doc = "On-chip buffer in front of memory; 0: each number is loaded once.",
    .minimum = 0,
    .maximum = 1e15};

double tiles_of(double a, double size_a, double b, double size_b) {
  return std::ceil(a / size_a) * std::ceil(b / size_b);
}

// Output stationary: k steps per tile, and rows + cols - 2 until the last sum is complete. Weight
// stationary: a tile of weights is loaded row by row, then m rows of inputs pass.
double cycles_of(const ParamValues& params, const OperatorWork& work) {
  const double rows = params.number(rows_param);
  const double cols = params.number(cols_param);
  const bool keeps_weights = params.text(dataflow_param) == "ws";
  const bool pipelined = params.boolean(pipelined_param);
  const double skew = rows + cols - 2;
  const double tiles = work.batch * (keeps_weights ? tiles_of(work.k, rows, work.n, cols)
                                                   : tiles_of(work.m, rows, work.n, cols));
  const double rounds = std::ceil(tiles / params.number(arrays_param));
  if (keeps_weights) {
    return pipelined ? rows + rounds * std::max(work.m, rows) + skew
                     : rounds * (rows + work.m + skew);
  }
  return pipelined ? rounds * work.k + skew : rounds * (work.k + skew);
}

ExecTime time(const ParamValues& params, const ExecDevice& device, const OperatorWork& work) {
  ExecTime time = execution::loads(params, work, params.number(buffer_param), device.bytes_per_ns);
  time.compute = work.kind == WorkKind::vector
                     ? work.numbers / device.vector_per_ns
                     : cycles_of(params, work) / params.number(clock_param) * 1e3;
  return time;
}

constexpr std::array<std::string_view, 4> assumptions = {
    "Every unit does one multiplication and addition per cycle, in every precision.",
    "Tiles do not share an array; those of one product go to all arrays, one round after the "
    "other.",
    "Loads of the next tile run beside the arithmetic; blocks are chosen as well as they can be.",
    "Operators that are no products run number by number at the vector rate of the file."};
constexpr std::array<std::string_view, 3> ignores = {
    "conflicts of buffer banks and what an implicit product of a convolution asks of them",
    "rows and columns that share a tile with another product",
    "fused operators: what follows a product goes through memory once more"};
constexpr std::array params = {rows_param,     cols_param,      arrays_param, clock_param,
                               dataflow_param, pipelined_param, buffer_param, dispatch_param};

}  // namespace

extern constexpr ExecModelInfo info = {
    .name = "systolic",
    .summary = "A systolic array of rows x cols units, output or weight stationary.",
    .paper =
        "H. T. Kung, Why Systolic Architectures?, Computer 1982; Y.-H. Lai et al., SuSy: A "
        "Programming Model for Productive Construction of High-Performance Systolic Arrays on "
        "FPGAs, ICCAD 2020",
    .recipe =
        "An m x k with a k x n product, os: ceil(m / rows) ceil(n / cols) tiles of k + rows + "
        "cols - 2 cycles; ws: ceil(k / rows) ceil(n / cols) tiles of rows + m + rows + cols - 2 "
        "cycles. Pipelined: rows + cols - 2 once. Beside it the bytes at the bandwidth; the "
        "longer one counts.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "clock_mhz and dispatch: one large and one small product.",
    .params = params,
    .time = time};

}  // namespace foretrace::systolic_parts
