// Looks into folders of configs; a name with other letters than those of names is no path.
#include "models/hardware/catalogue/config_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "sim/core/params.h"

namespace foretrace {
namespace {

namespace fs = std::filesystem;

bool is_plain_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
}

}  // namespace

std::string config_folder(const std::string& directory, std::string_view folder) {
  return (fs::path(directory) / folder).string();
}

std::string config_file(const std::string& directory, std::string_view folder,
                        std::string_view name) {
  return (fs::path(directory) / folder / (std::string(name) + ".json")).string();
}

std::vector<std::string> config_names(const std::string& directory, std::string_view folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(fs::path(directory) / folder, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() == ".json") names.push_back(at->path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string_view without_changes(std::string_view name) {
  const auto changes = name.find(':');
  const bool has_any =
      changes != std::string_view::npos && name.find('=', changes) != std::string_view::npos;
  return has_any ? name.substr(0, changes) : name;
}

namespace {

bool has_file_ending(std::string_view name) {
  constexpr std::array<std::string_view, 5> endings = {".json", ".yml", ".yaml", ".txt", ".csv"};
  return std::any_of(endings.begin(), endings.end(),
                     [name](std::string_view ending) { return name.ends_with(ending); });
}

}  // namespace

bool names_file(std::string_view name) {
  name = without_changes(name);
  return name.find('/') != std::string_view::npos || has_file_ending(name);
}

std::string file_named_in(const std::string& path, const std::string& name) {
  const fs::path folder = fs::path(path).parent_path();
  if (name.empty() || folder.empty() || fs::path(name).is_absolute()) return name;
  std::error_code failed;
  const auto beside = folder / name;
  if (fs::exists(beside, failed) || !fs::exists(name, failed)) return beside.string();
  return name;
}

Result<std::string> config_path(const std::string& directory, ConfigKind kind,
                                std::string_view name) {
  std::error_code ignored;
  // "meta-llama/Llama-3.1-8B" is the name of a model elsewhere.
  if (names_file(name) && (has_file_ending(name) || fs::exists(name, ignored))) {
    return std::string(name);
  }
  std::string path = config_file(directory, kind.folder, name);
  if (is_plain_name(name) && fs::is_regular_file(path, ignored)) return path;
  return unknown_config(kind.what, config_folder(directory, kind.folder), name,
                        config_names(directory, kind.folder));
}

namespace {

/// Of the name behind its folders, or of the longest beginning of it that has a near one.
std::string nearest_of(std::string_view name, std::span<const std::string_view> valid) {
  while (name.ends_with('/')) name.remove_suffix(1);
  name.remove_prefix(name.rfind('/') + 1);
  std::string nearest = did_you_mean(name, valid);
  for (auto end = name.find_last_of("-_ :");
       nearest.empty() && end != std::string_view::npos && end > 2;
       end = name.find_last_of("-_ :")) {
    name = name.substr(0, end);
    nearest = did_you_mean(name, valid);
  }
  return nearest;
}

}  // namespace

Error unknown_config(std::string_view what, const std::string& folder, std::string_view name,
                     std::span<const std::string> names) {
  const std::vector<std::string_view> valid(names.begin(), names.end());
  return Error{
      ErrorCode::not_found,
      fmt::format("{} {}: not found in {}{}, expected {}", what, in_quotes(name), folder,
                  nearest_of(name, valid),
                  names.empty() ? fmt::format("a path to a .json file (the folder has none)")
                                : fmt::format("a path to a .json file or one of {}",
                                              fmt::join(names, ", ")))};
}

}  // namespace foretrace
