// Policies and placements by name.
#pragma once

#include <memory>
#include <string_view>

#include "apps/scheduling/placements/placement.h"
#include "apps/scheduling/policies/scheduler_info.h"
#include "sim/core/result.h"
#include "sim/core/settings_text.h"

namespace foretrace::scheduling {

/// Errors name the nearest policy or placement.
[[nodiscard]] Result<const SchedulerInfo*> find_scheduler(std::string_view name);
[[nodiscard]] Result<const PlacementInfo*> find_placement(std::string_view name);

/// Parameters as in a what-if: "key=value,key=value".
[[nodiscard]] Result<std::unique_ptr<Policy>> make_policy(std::string_view name,
                                                          std::string_view parameters);
[[nodiscard]] Result<std::unique_ptr<Placement>> make_placement(std::string_view name,
                                                                std::string_view parameters,
                                                                const PlacementSetup& setup);
/// The same with parameters taken apart.
[[nodiscard]] Result<std::unique_ptr<Policy>> make_policy(const SchedulerInfo& info,
                                                          const Settings& settings);
[[nodiscard]] Result<std::unique_ptr<Placement>> make_placement(const PlacementInfo& info,
                                                                const Settings& settings,
                                                                const PlacementSetup& setup);

}  // namespace foretrace::scheduling
