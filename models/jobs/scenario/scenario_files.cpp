#include "models/jobs/scenario/scenario_files.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "models/hardware/catalogue/config_files.h"

namespace foretrace {
namespace {

const ConfigValue* workload_of(const ConfigValue& scenario) {
  const ConfigValue* workload = scenario.find("workload");
  return workload != nullptr && workload->kind == ConfigValue::Kind::object ? workload : nullptr;
}

/// Everything else is a name in the catalogue.
bool holds_file(std::string_view key, const std::string& name) {
  constexpr std::array<std::string_view, 4> always = {"trace", "execution", "chakra", "groups"};
  if (std::find(always.begin(), always.end(), key) != always.end()) return !name.empty();
  constexpr std::array<std::string_view, 4> kinds = {"model", "cluster", "accelerator",
                                                     "framework"};
  return std::find(kinds.begin(), kinds.end(), key) != kinds.end() && names_file(name);
}

}  // namespace

bool has_trace(const ConfigValue& scenario) {
  const ConfigValue* workload = workload_of(scenario);
  return workload != nullptr && workload->find("trace") != nullptr;
}

bool has_chakra(const ConfigValue& scenario) {
  const ConfigValue* workload = workload_of(scenario);
  return workload != nullptr && workload->find("chakra") != nullptr;
}

void place_files(ConfigValue& scenario,
                 const std::function<std::string(const std::string& name)>& place) {
  const auto place_in = [&](ConfigValue& object) {
    for (std::size_t i = 0; i < object.keys.size(); ++i) {
      ConfigValue& value = object.items[i];
      if (holds_file(object.keys[i], value.text)) {
        if (value.kind == ConfigValue::Kind::text) value.text = place(value.text);
      } else if (object.keys[i] == "chakra") {  // a list of them
        for (ConfigValue& each : value.items) {
          if (each.kind == ConfigValue::Kind::text) each.text = place(each.text);
        }
      }
    }
  };
  place_in(scenario);
  for (std::size_t i = 0; i < scenario.keys.size(); ++i) {
    if (scenario.keys[i] == "workload") place_in(scenario.items[i]);
  }
}

void place_files_of(const std::string& path, ConfigValue& scenario) {
  place_files(scenario, [&](const std::string& name) { return file_named_in(path, name); });
}

}  // namespace foretrace
