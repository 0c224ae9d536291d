// Looks into the config directory; a name with other letters than those of names is no path.
#include "models/catalogue/config_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "models/catalogue/accelerator.h"
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

std::vector<std::string> config_names(std::string_view folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(fs::path(config_directory()) / folder, error), end;
       !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".json") names.push_back(at->path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::string> config_path(std::string_view what, std::string_view folder,
                                std::string_view name) {
  if (name.ends_with(".json")) return std::string(name);
  const fs::path path = fs::path(config_directory()) / folder / (std::string(name) + ".json");
  std::error_code ignored;
  if (is_plain_name(name) && fs::is_regular_file(path, ignored)) return path.string();
  const std::vector<std::string> names = config_names(folder);
  const std::vector<std::string_view> valid(names.begin(), names.end());
  return Error{
      ErrorCode::not_found,
      fmt::format("{} {}: not found in {}{}, expected {}", what, in_quotes(name),
                  (fs::path(config_directory()) / folder).string(), did_you_mean(name, valid),
                  names.empty() ? fmt::format("a path to a .json file (no {} are there)", folder)
                                : fmt::format("a path to a .json file or one of {}",
                                              fmt::join(names, ", ")))};
}

}  // namespace foretrace
