// Bulk-synchronous tiles: each computes from memory of its own, then all exchange, then all meet.
#include <algorithm>
#include <array>
#include <cmath>

#include "models/hardware/execution/exec_model.h"

namespace foretrace::bsp_parts {
namespace {

constexpr ParamInfo tiles_param = {.name = "tiles",
                                   .type = ParamType::integer,
                                   .unit = "1",
                                   .doc = "Cores with memory of their own.",
                                   .minimum = 1,
                                   .maximum = 1e5};
constexpr ParamInfo exchange_param = {.name = "exchange",
                                      .type = ParamType::bandwidth,
                                      .unit = "TB/s",
                                      .doc = "What all tiles together receive from each other.",
                                      .minimum = 1,
                                      .maximum = 1e18};
constexpr ParamInfo sync_param = {.name = "sync",
                                  .type = ParamType::time,
                                  .unit = "us",
                                  .default_text = "0 ns",
                                  .doc =
                                      "All tiles meet, once before they exchange and once before "
                                      "they compute.",
                                  .minimum = 0,
                                  .maximum = 1e12};

/// What one tile has of a product: its part of m, n and k, times the batches that it does in a row.
ExecTime on_a_tile(const ParamValues& params, const ExecDevice& device, const OperatorWork& work,
                   const std::array<double, 3>& parts) {
  const double tiles = params.number(tiles_param);
  const double m = std::ceil(work.m / parts[0]);
  const double n = std::ceil(work.n / parts[1]);
  const double k = std::ceil(work.k / parts[2]);
  const double rounds = std::ceil(work.batch / tiles);
  const double operands = m * k / std::max(1.0, work.input_reuse) + k * n;
  // Tiles that divide k add up an equal share of their sums each.
  const double sums = m * n * (1 - 1 / parts[2]);
  const double bytes = rounds * work.number_bytes;
  ExecTime time;
  time.compute = rounds * m * n * k / (device.multiplications_per_ns / tiles);
  time.exchange = (operands + sums) * bytes / (params.number(exchange_param) * 1e-9 / tiles);
  time.traffic = (operands + m * n) * bytes / (device.bytes_per_ns / tiles);
  return time;
}

// The division that takes least, of all by rows and by powers of two of k; columns take what is
// left. Of the divisions by rows that leave tiles equally high, the one into fewest rows leaves
// most columns, and none takes less: the others are passed over.
ExecTime best_division(const ParamValues& params, const ExecDevice& device,
                       const OperatorWork& work) {
  const double share =
      std::max(1.0, std::floor(params.number(tiles_param) / std::max(1.0, work.batch)));
  ExecTime best;
  double parts = 1;
  while (parts <= std::min(share, work.k)) {
    const double most_rows = std::min(std::floor(share / parts), work.m);
    double rows = 1;
    while (rows <= most_rows) {
      const double height = std::ceil(work.m / rows);
      const double columns = std::min(work.n, std::floor(share / (parts * rows)));
      const ExecTime time = on_a_tile(params, device, work, {rows, columns, parts});
      if (!(best.total() > 0) || time.total() < best.total()) best = time;
      if (!(height > 1)) break;
      rows = std::ceil(work.m / (height - 1));
    }
    parts *= 2;
  }
  return best;
}

ExecTime time(const ParamValues& params, const ExecDevice& device, const OperatorWork& work) {
  ExecTime time;
  if (work.kind == WorkKind::vector) {
    // What it needs is where it was made.
    const double tiles = params.number(tiles_param);
    time.compute = std::ceil(work.numbers / tiles) / (device.vector_per_ns / tiles);
    time.traffic = work.bytes() / device.bytes_per_ns;
  } else {
    time = best_division(params, device, work);
  }
  time.fixed = 2 * params.number(sync_param) * work.kernels;
  return time;
}

constexpr std::array<std::string_view, 4> assumptions = {
    "An operator is one superstep: exchange, meeting, computation, meeting.",
    "Both operands of a product come from other tiles, weights too; each tile keeps what it makes.",
    "The compiler divides m, n and k so that a product takes least; the tile with most decides.",
    "Everything lies in the memory of the tiles: what does not fit does not run."};
constexpr std::array<std::string_view, 3> ignores = {
    "program code and exchange tables, which take memory of the tiles",
    "the grain of the units inside a tile", "streaming memory outside the chip"};
constexpr std::array params = {tiles_param, exchange_param, sync_param};

}  // namespace

extern constexpr ExecModelInfo info = {
    .name = "bsp",
    .summary = "Tiles with memory of their own that compute, meet and exchange (IPU).",
    .paper =
        "L. Valiant, A Bridging Model for Parallel Computation, CACM 1990; Z. Jia et al., "
        "Dissecting the Graphcore IPU Architecture via Microbenchmarking, 2019",
    .recipe =
        "Per operator: what the busiest tile receives over its share of exchange, its "
        "multiplications over its share of the peak (or its bytes over its share of the "
        "bandwidth of memory), and two meetings.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "sync: an operator with next to nothing to do; exchange: a transposition.",
    .params = params,
    .time = time};

}  // namespace foretrace::bsp_parts
