#include "apps/driver/plan/scenario_files.h"

#include <filesystem>
#include <string_view>
#include <system_error>

namespace foretrace::driver {
namespace {

const ConfigValue* workload_of(const ConfigValue& scenario) {
  const ConfigValue* workload = scenario.find("workload");
  return workload != nullptr && workload->kind == ConfigValue::Kind::object ? workload : nullptr;
}

/// Everything else is a name in the catalogue.
bool names_file(std::string_view key, const std::string& name) {
  if (key == "trace" || key == "execution") return !name.empty();
  if (key != "model" && key != "cluster" && key != "framework" && key != "accelerator")
    return false;
  return name.ends_with(".json") || name.find('/') != std::string::npos;
}

}  // namespace

bool has_trace(const ConfigValue& scenario) {
  const ConfigValue* workload = workload_of(scenario);
  return workload != nullptr && workload->find("trace") != nullptr;
}

std::string file_named(const std::string& folder, const std::string& name) {
  const std::filesystem::path path(name);
  if (name.empty() || folder.empty() || path.is_absolute()) return name;
  std::error_code failed;
  const auto beside = std::filesystem::path(folder) / path;
  if (std::filesystem::exists(beside, failed) || !std::filesystem::exists(path, failed)) {
    return beside.string();
  }
  return name;
}

void place_files(ConfigValue& scenario,
                 const std::function<std::string(const std::string& name)>& place) {
  const auto place_in = [&](ConfigValue& object) {
    for (std::size_t i = 0; i < object.keys.size(); ++i) {
      ConfigValue& value = object.items[i];
      const bool is_text = value.kind == ConfigValue::Kind::text;
      if (is_text && names_file(object.keys[i], value.text)) value.text = place(value.text);
    }
  };
  place_in(scenario);
  for (std::size_t i = 0; i < scenario.keys.size(); ++i) {
    if (scenario.keys[i] == "workload") place_in(scenario.items[i]);
  }
}

void place_files_of(const std::string& path, ConfigValue& scenario) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  place_files(scenario, [&](const std::string& name) { return file_named(folder, name); });
}

}  // namespace foretrace::driver
