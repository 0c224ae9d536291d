#include "models/whatifs/how_to.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "sim/core/config.h"

namespace foretrace {
namespace {

namespace fs = std::filesystem;

struct WrittenFor {
  std::string_view key;
  std::string_view name;
};
constexpr std::array<WrittenFor, 2> frameworks = {{{"pytorch", "PyTorch"}, {"jax", "JAX"}}};

Result<std::vector<std::string>> files_below(const std::string& folder) {
  std::error_code failed;
  std::vector<std::string> files;
  for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed)) {
    if (at->path().extension() == ".json") files.push_back(at->path().string());
  }
  if (failed) {
    return Error{ErrorCode::io, folder + ": cannot list: " + failed.message()};
  }
  std::sort(files.begin(), files.end());
  return files;
}

Status add_file(const std::string& path, HowTos& all) {
  FORETRACE_TRY(const ConfigValue document, read_config(path, "foretrace.what_if/1"));
  ConfigFields fields(document, path);
  std::string name;
  fields.text("optimization", name);
  (void)fields.optional_value("parameters");  // the example's, which those who apply it read
  const ConfigValue* const lines_by_framework = fields.optional_object("how_to");
  FORETRACE_TRY(fields.finish());
  if (lines_by_framework == nullptr) return ok_status();
  ConfigFields entry(*lines_by_framework, path, "/how_to");
  for (const WrittenFor& framework : frameworks) {
    std::vector<std::string> lines;
    entry.optional_texts(framework.key, lines);
    if (!lines.empty()) all[name].emplace(framework.key, std::move(lines));
  }
  return entry.finish();
}

}  // namespace

Result<HowTos> read_how_tos(const std::string& config_directory) {
  FORETRACE_TRY(const std::vector<std::string> files,
                files_below(config_directory + "/optimizations"));
  HowTos all;
  for (const std::string& file : files) {
    FORETRACE_TRY(add_file(file, all));
  }
  return all;
}

std::vector<std::string> lines_of(const HowTos& all, std::string_view what_if) {
  std::vector<std::string> lines;
  const auto found = all.find(what_if);
  if (found == all.end()) return lines;
  for (const WrittenFor& framework : frameworks) {
    const auto own = found->second.find(framework.key);
    if (own == found->second.end()) continue;
    bool is_first = true;
    for (const std::string& line : own->second) {
      lines.push_back((is_first ? std::string(framework.name) + ": " : std::string()) + line);
      is_first = false;
    }
  }
  return lines;
}

}  // namespace foretrace
