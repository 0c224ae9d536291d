// Reads the files of configs/memories.
#include "models/hardware/catalogue/memory_profile.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "sim/core/config.h"

namespace foretrace {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view memory_schema = "foretrace.memory/1";
// 1 PiB: a size beyond it is a mistake.
constexpr double most_bytes = 1125899906842624.0;

std::int64_t read_bytes(ConfigFields& fields, std::string_view key) {
  double value = 0;
  fields.quantity(key, ParamType::bytes, value);
  if (value >= 0 && value <= most_bytes) return static_cast<std::int64_t>(value);
  fields.mistake(key, fmt::format("got {:g} bytes, expected from 0 to 1 PiB", value));
  return 0;
}

void read_workspaces(ConfigFields& fields, std::string_view key,
                     std::vector<LibraryWorkspace>& list) {
  const ConfigValue* const group = fields.object(key);
  if (group == nullptr) return;
  ConfigFields libraries(*group, fields.file(), fields.pointer_of(key));
  for (const std::string& library : group->keys) {
    const ConfigValue* const object = libraries.object(library);
    if (object == nullptr) break;
    ConfigFields inner(*object, fields.file(), libraries.pointer_of(library));
    LibraryWorkspace workspace{.library = library, .bytes = read_bytes(inner, "size")};
    inner.texts("operators", workspace.operators);
    libraries.take(inner.finish());
    list.push_back(std::move(workspace));
  }
  fields.take(libraries.finish());
}

/// Every figure needs to say where it is from.
void read_sources(ConfigFields& fields, MemoryProfile& profile) {
  const ConfigValue* const object = fields.object("sources");
  if (object == nullptr) return;
  ConfigFields inner(*object, fields.file(), fields.pointer_of("sources"));
  const auto need = [&](const std::string& key) {
    std::string text;
    inner.text(key, text);
    profile.sources.emplace_back(key, std::move(text));
  };
  need("context");
  for (const LibraryWorkspace& workspace : profile.persistent) {
    need("persistent/" + workspace.library);
  }
  for (const LibraryWorkspace& workspace : profile.per_call) need("per_call/" + workspace.library);
  fields.take(inner.finish());
}

Result<MemoryProfile> profile_from(const ConfigValue& root, const std::string& where) {
  MemoryProfile profile;
  profile.name = fs::path(where).stem().string();
  ConfigFields fields(root, where);
  fields.texts("accelerators", profile.accelerators);
  if (const ConfigValue* const context = fields.object("context")) {
    ConfigFields inner(*context, where, fields.pointer_of("context"));
    profile.context_low_bytes = read_bytes(inner, "low");
    profile.context_high_bytes = read_bytes(inner, "high");
    if (profile.context_low_bytes > profile.context_high_bytes) {
      inner.mistake("low", "got more than high, expected at most as much");
    }
    fields.take(inner.finish());
  }
  read_workspaces(fields, "persistent", profile.persistent);
  read_workspaces(fields, "per_call", profile.per_call);
  read_sources(fields, profile);
  FORETRACE_TRY(fields.finish());
  return profile;
}

}  // namespace

bool LibraryWorkspace::serves(std::string_view operator_name) const {
  return std::find(operators.begin(), operators.end(), operator_name) != operators.end();
}

std::int64_t MemoryProfile::per_call_bytes(std::string_view operator_name) const {
  std::int64_t bytes = 0;
  for (const LibraryWorkspace& workspace : per_call) {
    if (workspace.serves(operator_name)) bytes = std::max(bytes, workspace.bytes);
  }
  return bytes;
}

Result<MemoryProfile> parse_memory_profile(std::string_view text, const std::string& where) {
  FORETRACE_TRY(const ConfigValue root, parse_config_document(text, where, memory_schema));
  return profile_from(root, where);
}

Result<MemoryProfile> read_memory_profile(const std::string& path) {
  FORETRACE_TRY(const std::string text, read_config_text(path));
  return parse_memory_profile(text, path);
}

}  // namespace foretrace
