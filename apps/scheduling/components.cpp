#include "apps/scheduling/components.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "sim/core/params.h"

namespace foretrace::scheduling {
namespace {

template <typename Info>
Result<const Info*> find_in(std::span<const Info* const> all, std::string_view kind,
                            std::string_view name) {
  std::vector<std::string_view> names;
  for (const Info* const info : all) {
    if (info->name == name) return info;
    names.push_back(info->name);
  }
  return Error{ErrorCode::not_found,
               fmt::format("unknown {} {}{}", kind, in_quotes(name), did_you_mean(name, names))};
}

Result<Settings> settings_of(std::string_view kind, std::string_view name,
                             std::string_view parameters) {
  if (parameters.empty()) return Settings{};
  FORETRACE_TRY(auto spec, parse_named_settings(kind, fmt::format("{}:{}", name, parameters)));
  return std::move(spec.parameters);
}

}  // namespace

Result<const SchedulerInfo*> find_scheduler(std::string_view name) {
  return find_in(schedulers::all(), "scheduler", name);
}

Result<const PlacementInfo*> find_placement(std::string_view name) {
  return find_in(placements::all(), "placement", name);
}

Result<std::unique_ptr<Policy>> make_policy(const SchedulerInfo& info, const Settings& settings) {
  FORETRACE_TRY(auto values,
                ParamValues::parse(fmt::format("scheduler {}", info.name), info.params, settings));
  return info.make(values);
}

Result<std::unique_ptr<Placement>> make_placement(const PlacementInfo& info,
                                                  const Settings& settings,
                                                  const PlacementSetup& setup) {
  FORETRACE_TRY(auto values,
                ParamValues::parse(fmt::format("placement {}", info.name), info.params, settings));
  return info.make(setup, values);
}

Result<std::unique_ptr<Policy>> make_policy(std::string_view name, std::string_view parameters) {
  FORETRACE_TRY(auto info, find_scheduler(name));
  FORETRACE_TRY(auto settings, settings_of("scheduler", name, parameters));
  return make_policy(*info, settings);
}

Result<std::unique_ptr<Placement>> make_placement(std::string_view name,
                                                  std::string_view parameters,
                                                  const PlacementSetup& setup) {
  FORETRACE_TRY(auto info, find_placement(name));
  FORETRACE_TRY(auto settings, settings_of("placement", name, parameters));
  return make_placement(*info, settings, setup);
}

}  // namespace foretrace::scheduling
