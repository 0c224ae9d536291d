#include "apps/serving/calibration/host_fit.h"

#include <algorithm>
#include <array>

namespace foretrace {
namespace {

double squares(std::span<const HostRow> rows, const HostTimes& host) {
  double sum = 0;
  for (const HostRow& row : rows) sum += (row.at(host) - 1) * (row.at(host) - 1);
  return sum;
}

/// The best time of one kind beside the other one, not below 0.
double best_alone(std::span<const HostRow> rows, double HostRow::*part, const HostTimes& others) {
  double above = 0;
  double below = 0;
  for (const HostRow& row : rows) {
    above += row.*part * (1 - row.at(others));
    below += row.*part * row.*part;
  }
  return below > 0 ? std::max(0.0, above / below) : 0;
}

}  // namespace

HostFit fit_host(std::span<const HostRow> rows, const HostTimes& before) {
  double ss = 0;
  double sq = 0;
  double qq = 0;
  double sr = 0;
  double qr = 0;
  for (const HostRow& row : rows) {
    const double rest = 1 - row.beside;
    ss += row.per_step * row.per_step;
    sq += row.per_step * row.per_sequence;
    qq += row.per_sequence * row.per_sequence;
    sr += row.per_step * rest;
    qr += row.per_sequence * rest;
  }
  // Of the product of both squares, what is left where sequences per step differ by a tenth.
  constexpr double least_apart = 1e-3;
  const double apart = ss * qq - sq * sq;
  if (!(apart > least_apart * ss * qq)) {
    const HostTimes kept{0, before.sequence_ns};
    return {{best_alone(rows, &HostRow::per_step, kept), before.sequence_ns}, false};
  }
  const HostTimes both{(sr * qq - qr * sq) / apart, (qr * ss - sr * sq) / apart};
  if (both.step_ns >= 0 && both.sequence_ns >= 0) return {both, true};
  const std::array<HostTimes, 2> alone = {
      HostTimes{best_alone(rows, &HostRow::per_step, {}), 0},
      HostTimes{0, best_alone(rows, &HostRow::per_sequence, {})}};
  const bool first = squares(rows, alone[0]) <= squares(rows, alone[1]);
  return {first ? alone[0] : alone[1], true};
}

}  // namespace foretrace
