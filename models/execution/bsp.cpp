// Bulk-synchronous tiles: each computes from memory of its own, then all exchange, then all meet.
#include <algorithm>
#include <array>
#include <cmath>

#include "models/execution/exec_model.h"

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

/// How a product lies on the tiles: rows x columns of the output, and parts of k.
struct Division {
  double rows = 1;
  double columns = 1;
  double parts = 1;
  double work = 0;  ///< multiplications of the tile with most
};

// The division whose largest tile has least to do; of equals the one that receives less. What rows
// and columns leave divides k.
Division divided(const OperatorWork& work, double tiles) {
  Division best;
  double best_received = 0;
  const double share = std::max(1.0, std::floor(tiles / std::max(1.0, work.batch)));
  const double rounds = std::ceil(work.batch / tiles);  // batches that one tile does in a row
  for (double rows = 1; rows <= std::min(share, work.m); ++rows) {
    const double columns = std::min(work.n, std::floor(share / rows));
    const double parts = std::clamp(std::floor(share / (rows * columns)), 1.0, work.k);
    const double m = std::ceil(work.m / rows);
    const double n = std::ceil(work.n / columns);
    const double k = std::ceil(work.k / parts);
    const double received = m * k / std::max(1.0, work.input_reuse) + k * n;
    const double all = rounds * m * n * k;
    if (best.work > 0 && (all > best.work || (all == best.work && received >= best_received))) {
      continue;
    }
    best = {rows, columns, parts, all};
    best_received = received;
  }
  return best;
}

ExecTime time(const ParamValues& params, const ExecDevice& device, const OperatorWork& work) {
  const double tiles = params.number(tiles_param);
  ExecTime time;
  time.fixed = 2 * params.number(sync_param) * work.kernels;
  if (work.kind == WorkKind::vector) {
    // What it needs is where it was made.
    time.compute = std::ceil(work.numbers / tiles) / (device.vector_per_ns / tiles);
    time.traffic = work.bytes() / device.bytes_per_ns;
    return time;
  }
  const Division division = divided(work, tiles);
  time.compute = division.work / (device.multiplications_per_ns / tiles);
  const double rounds = std::ceil(work.batch / tiles);
  const double m = std::ceil(work.m / division.rows);
  const double n = std::ceil(work.n / division.columns);
  const double k = std::ceil(work.k / division.parts);
  const double operands = rounds * (m * k / std::max(1.0, work.input_reuse) + k * n);
  // Partial sums meet on one of the tiles that divide k.
  const double sums = division.parts > 1 ? rounds * m * n : 0;
  const double to_a_tile = params.number(exchange_param) * 1e-9 / tiles;
  time.exchange = (operands + sums) * work.number_bytes / to_a_tile;
  const double own = (operands + rounds * m * n) * work.number_bytes;
  time.traffic = own / (device.bytes_per_ns / tiles);
  return time;
}

constexpr std::array<std::string_view, 4> assumptions = {
    "An operator is one superstep: exchange, meeting, computation, meeting.",
    "Both operands of a product come from other tiles, weights too; each tile keeps what it makes.",
    "The tile with most work decides; k is divided only where rows and columns leave tiles idle.",
    "Everything lies in the memory of the tiles: what does not fit does not run."};
constexpr std::array<std::string_view, 3> ignores = {
    "program code and exchange tables, which take memory of the tiles",
    "the grain of the units inside a tile", "streaming memory outside the chip"};
constexpr std::array params = {tiles_param, exchange_param, sync_param};

constexpr ExecModelInfo info = {
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

}  // namespace
}  // namespace foretrace::bsp_parts

namespace foretrace::exec_models {
extern const ExecModelInfo bsp;
constinit const ExecModelInfo bsp = bsp_parts::info;
}  // namespace foretrace::exec_models
