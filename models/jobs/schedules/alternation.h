// The order that 1F1B and its relatives share.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/jobs/schedules/schedule.h"

namespace foretrace::schedules {

/// `warm` forward passes, then one forward and one backward pass in turn, then the backward passes
/// that are left. With `lag` backward is split: gradients of weights come so many micro-batches
/// behind those of inputs, the last of them at the end.
[[nodiscard]] std::vector<ScheduleStep> alternating(std::uint32_t micro_batches, std::uint32_t warm,
                                                    std::optional<std::uint32_t> lag = {});

}  // namespace foretrace::schedules
