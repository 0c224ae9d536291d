#include "models/hardware/catalogue/catalogue.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "models/hardware/catalogue/config_files.h"
#include "models/hardware/catalogue/cost_file.h"
#include "models/hardware/catalogue/memory_profile.h"

namespace foretrace {
namespace {

struct DocumentKind {
  std::string_view folder;
  std::string_view schema;
};
constexpr std::array<DocumentKind, 5> document_kinds = {
    {{"attention", "foretrace.attention/1"},
     {"clusters", "foretrace.cluster/1"},
     {"kernel_tables", "foretrace.kernel_table/1"},
     {"offload_patterns", "foretrace.offload_patterns/1"},
     {"power", "foretrace.power/1"}}};

bool is_named(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Result<std::vector<MemoryProfile>> read_profiles(const std::string& directory) {
  std::vector<MemoryProfile> profiles;
  for (const std::string& name : config_names(directory, "memories")) {
    FORETRACE_TRY(auto profile, read_memory_profile(config_file(directory, "memories", name)));
    profiles.push_back(std::move(profile));
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
  FORETRACE_TRY(auto costs, read_cost_files(in));
  FORETRACE_TRY(auto profiles, read_profiles(in));
  FORETRACE_TRY(made.evidence_, read_evidence(in));
  for (const std::string& name : config_names(in, "accelerators")) {
    FORETRACE_TRY(auto accelerator, read_accelerator(config_file(in, "accelerators", name)));
    accelerator.fits = fits_of(costs, name);
    accelerator.memory = profile_of(profiles, name);
    made.accelerators_.push_back(std::move(accelerator));
  }
  for (const DocumentKind& kind : document_kinds) {
    for (const std::string& name : config_names(in, kind.folder)) {
      FORETRACE_TRY(auto document, read_config(config_file(in, kind.folder, name), kind.schema));
      made.documents_.emplace(std::pair(kind.folder, name), std::move(document));
    }
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

Result<const ConfigValue*> Catalogue::document(ConfigKind kind, std::string_view name) const {
  const std::pair<std::string, std::string> key(kind.folder, name);
  for (const auto* const known : {&documents_, &document_files_}) {
    const auto found = known->find(key);
    if (found != known->end()) return &found->second;
  }
  return unknown_config(kind.what, config_folder(directory_, kind.folder), name,
                        document_names(kind.folder));
}

std::vector<std::string> Catalogue::document_names(std::string_view folder) const {
  std::vector<std::string> names;
  for (const auto& [key, document] : documents_) {
    if (key.first == folder) names.push_back(key.second);
  }
  return names;
}

const Catalogue& no_catalogue() {
  static const Catalogue none;
  return none;
}

Status Catalogue::add_file(std::string_view folder, const std::string& path) {
  for (const DocumentKind& kind : document_kinds) {
    if (kind.folder != folder) continue;
    FORETRACE_TRY(auto document, read_config(path, kind.schema));
    document_files_.insert_or_assign(std::pair(std::string(folder), path), std::move(document));
    return ok_status();
  }
  FORETRACE_TRY(auto accelerator, read_accelerator(path));
  accelerator_files_.insert_or_assign(path, std::move(accelerator));
  return ok_status();
}

}  // namespace foretrace
