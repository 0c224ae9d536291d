#include "models/catalogue/catalogue.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "models/catalogue/config_files.h"
#include "models/catalogue/cost_file.h"
#include "models/catalogue/memory_profile.h"

namespace foretrace {
namespace {

constexpr std::string_view kernel_table_schema = "foretrace.kernel_table/1";

bool is_named(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Result<std::vector<MemoryProfile>> read_profiles(const std::string& directory) {
  std::vector<MemoryProfile> profiles;
  for (const std::string& name : config_names(directory, "memories")) {
    auto profile = read_memory_profile(config_file(directory, "memories", name));
    if (!profile) return std::move(profile).error();
    profiles.push_back(*std::move(profile));
  }
  return profiles;
}

/// The first that lists the accelerator; else one without figures.
MemoryProfile profile_of(const std::vector<MemoryProfile>& profiles, std::string_view accelerator) {
  for (const MemoryProfile& profile : profiles) {
    if (is_named(profile.accelerators, accelerator)) return profile;
  }
  return {};
}

}  // namespace

Result<Catalogue> Catalogue::read(std::string directory) {
  Catalogue made;
  made.directory_ = std::move(directory);
  const std::string& in = made.directory_;
  auto costs = read_cost_files(in);
  if (!costs) return std::move(costs).error();
  auto profiles = read_profiles(in);
  if (!profiles) return std::move(profiles).error();
  for (const std::string& name : config_names(in, "accelerators")) {
    auto accelerator = read_accelerator(config_file(in, "accelerators", name));
    if (!accelerator) return std::move(accelerator).error();
    accelerator->fits = fits_of(*costs, name);
    accelerator->memory = profile_of(*profiles, name);
    made.accelerators_.push_back(*std::move(accelerator));
  }
  for (const std::string& name : config_names(in, "kernel_tables")) {
    auto table = read_config(config_file(in, "kernel_tables", name), kernel_table_schema);
    if (!table) return std::move(table).error();
    made.kernel_tables_.emplace(name, *std::move(table));
  }
  return made;
}

std::vector<std::string> Catalogue::accelerator_names() const {
  std::vector<std::string> names;
  names.reserve(accelerators_.size());
  for (const Accelerator& accelerator : accelerators_) names.push_back(accelerator.name);
  return names;
}

Result<const Accelerator*> Catalogue::accelerator(std::string_view name) const {
  for (const Accelerator& accelerator : accelerators_) {
    if (accelerator.name == name) return &accelerator;
  }
  const auto file = accelerator_files_.find(name);
  if (file != accelerator_files_.end()) return &file->second;
  return unknown_config("accelerator", config_folder(directory_, "accelerators"), name,
                        accelerator_names());
}

const Accelerator* Catalogue::accelerator_of_device(std::string_view device_name,
                                                    std::int64_t memory_bytes) const {
  if (device_name.empty()) return nullptr;
  const auto distance = [memory_bytes](const Accelerator& accelerator) {
    return std::abs(accelerator.memory_bytes - memory_bytes);
  };
  const Accelerator* best = nullptr;
  for (const Accelerator& candidate : accelerators_) {
    if (!is_named(candidate.trace_names, device_name)) continue;
    if (best == nullptr || distance(candidate) < distance(*best)) best = &candidate;
  }
  return best;
}

Result<const ConfigValue*> Catalogue::kernel_table(std::string_view name) const {
  const auto found = kernel_tables_.find(name);
  if (found != kernel_tables_.end()) return &found->second;
  std::vector<std::string> names;
  for (const auto& [known, document] : kernel_tables_) names.push_back(known);
  return unknown_config("kernel table", config_folder(directory_, "kernel_tables"), name, names);
}

const Catalogue& no_catalogue() {
  static const Catalogue none;
  return none;
}

Status Catalogue::add_file(std::string_view folder, const std::string& path) {
  if (folder == "kernel_tables") {
    auto table = read_config(path, kernel_table_schema);
    if (!table) return std::move(table).error();
    kernel_tables_.insert_or_assign(path, *std::move(table));
    return ok_status();
  }
  auto accelerator = read_accelerator(path);
  if (!accelerator) return std::move(accelerator).error();
  accelerator_files_.insert_or_assign(path, *std::move(accelerator));
  return ok_status();
}

}  // namespace foretrace
