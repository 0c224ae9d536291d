// What a host takes for a step and for each of its sequences, from runs that are linear in both.
#pragma once

#include <span>

namespace foretrace {

struct HostTimes {
  double step_ns = 0;
  double sequence_ns = 0;
};

/// A predicted time over the measured one.
struct HostRow {
  double beside = 0;  ///< what is not the host's
  double per_step = 0;
  double per_sequence = 0;

  [[nodiscard]] double at(const HostTimes& host) const {
    return beside + per_step * host.step_ns + per_sequence * host.sequence_ns;
  }
};

struct HostFit {
  HostTimes times;
  bool tells_sequences = false;  ///< both are from the rows
};

/// Least squares of what rows are off 1 by; no time is below 0. Rows whose steps are of equally
/// many sequences do not tell both apart: the time per sequence stays as it was `before`.
[[nodiscard]] HostFit fit_host(std::span<const HostRow> rows, const HostTimes& before);

}  // namespace foretrace
