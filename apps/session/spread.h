// What a run gains that is spread over more devices, beside what these devices could do.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "models/whatifs/what_if_spec.h"

namespace foretrace {

class Answer;
class Session;

/// Devices of the job that was recorded or modelled, of which one rank may be what is known.
[[nodiscard]] std::uint32_t devices_of(const Session& session);

/// What the work of a step takes on the devices that have it now.
struct WorkTimes {
  std::int64_t step_ns = 0;
  std::int64_t more_ns = 0;  ///< one more pass, without another update
  double samples = 1;        ///< of its step / of a recorded one

  /// Of so many recorded steps, their updates once.
  [[nodiscard]] double time_of(double steps) const {
    return static_cast<double>(step_ns) + (steps / samples - 1) * static_cast<double>(more_ns);
  }
};
/// As the stack makes the run, which is spread by nothing of it.
[[nodiscard]] WorkTimes work_times(const Session& session, std::span<const WhatIf> stack);

/// The run on more devices.
struct RunSpread {
  std::int64_t devices = 1;
  std::uint32_t recorded_devices = 1;
  /// Time that the recorded devices need for the samples of each copy in turn, with gradient
  /// accumulation if a copy has more than they and with every other what-if of the stack, x their
  /// number / time of all devices. Of fewer devices than recorded: at the recorded rate.
  double efficiency = 1;
  std::optional<double> samples_per_s;  ///< of all devices; none: the batch is not known
};
[[nodiscard]] double spread_efficiency(const WorkTimes& now, std::uint32_t recorded_devices,
                                       const Answer& spread, std::int64_t devices);
/// A rate of one recorded device as one of all that do the same; of a modelled job it is.
[[nodiscard]] std::optional<double> samples_per_s_of_all(const Answer& spread);

/// Nothing where no what-if of the answer spreads it over more devices.
[[nodiscard]] std::optional<RunSpread> spread_of(const Answer& answer);

}  // namespace foretrace
