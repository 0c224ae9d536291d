#include "apps/cli/names/names.h"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "apps/cli/names/configs.h"
#include "models/hardware/catalogue/accelerator.h"
#include "models/hardware/catalogue/config_files.h"
#include "models/whatifs/what_if.h"
#include "sim/core/params.h"
#include "sim/core/text.h"

namespace foretrace::app {
namespace {

/// Lower case, and one kind of separator: "Flash-Attention" is "flash_attention".
std::string normal(std::string_view word) {
  std::string text;
  for (const char c : word) {
    const bool is_separator = c == ' ' || c == '-' || c == '_';
    if (is_separator && (text.empty() || text.back() == '_')) continue;
    text += is_separator ? '_' : to_lower(c);
  }
  while (!text.empty() && text.back() == '_') text.pop_back();
  return text;
}

bool is_what_if(std::string_view name) {
  const auto all = what_ifs::all();
  return std::any_of(all.begin(), all.end(),
                     [&](const WhatIfInfo* info) { return info->name == name; });
}

Error broken(const std::string& path, std::string_view what) {
  return {ErrorCode::bad_config, fmt::format("{}: {}", path, what)};
}

Error unknown_what_if(std::string_view word, const std::vector<Alias>& aliases) {
  std::vector<std::string_view> names;
  for (const WhatIfInfo* const info : what_ifs::all()) names.push_back(info->name);
  std::string hint = did_you_mean(word, names);
  if (hint.empty()) {
    std::vector<std::string_view> words;
    words.reserve(aliases.size());
    for (const Alias& alias : aliases) words.push_back(alias.word);
    hint = did_you_mean(word, words);
    for (const Alias& alias : aliases) {
      const std::string quoted = fmt::format("'{}'?", alias.word);
      if (const std::size_t at = hint.find(quoted); at != std::string::npos) {
        hint.replace(at, quoted.size(), fmt::format("'{}', our {}?", alias.word, alias.name));
      }
    }
  }
  return {
      ErrorCode::not_found,
      fmt::format("unknown what-if '{}'{}; foretrace list optimizations names all", word, hint)};
}

}  // namespace

Result<std::vector<Alias>> what_if_aliases() {
  const std::string path = config_directory() + "/aliases.json";
  std::ifstream file(path);
  if (!file) return std::vector<Alias>{};  // names work without it
  const nlohmann::json document = nlohmann::json::parse(file, nullptr, false, true);
  if (!document.is_object() || !document.contains("optimizations")) {
    return broken(path, "expected an object with \"optimizations\"");
  }
  std::vector<Alias> aliases;
  for (const auto& [name, words] : document["optimizations"].items()) {
    if (!words.is_array())
      return broken(path, fmt::format("/optimizations/{}: not an array", name));
    for (const nlohmann::json& word : words) {
      if (!word.is_string()) return broken(path, fmt::format("/optimizations/{}: not words", name));
      aliases.push_back({word.get<std::string>(), name});
    }
  }
  if (!document.contains("nearest")) return aliases;
  for (const auto& [word, near] : document["nearest"].items()) {
    if (!near.is_object() || !near.contains("name") || !near.contains("difference") ||
        !near["name"].is_string() || !near["difference"].is_string()) {
      return broken(path, fmt::format("/nearest/{}: expected \"name\" and \"difference\"", word));
    }
    aliases.push_back(
        {word, near["name"].get<std::string>(), near["difference"].get<std::string>()});
  }
  return aliases;
}

Result<std::string> what_if_named(std::string_view word) {
  const std::string wanted = normal(word);
  if (is_what_if(word)) return std::string(word);
  if (is_what_if(wanted)) return wanted;
  FORETRACE_TRY(const std::vector<Alias> aliases, what_if_aliases());
  for (const Alias& alias : aliases) {
    if (normal(alias.word) != wanted) continue;
    if (alias.difference.empty()) return alias.name;
    return Error{ErrorCode::not_found, fmt::format("unknown what-if '{}'; the nearest is {}: {}",
                                                   word, alias.name, alias.difference)};
  }
  return unknown_what_if(word, aliases);
}

Result<std::string> accelerator_named(std::string_view word) {
  const std::string wanted = normal(word);
  FORETRACE_TRY(const CataloguePtr known, catalogue());
  const std::vector<std::string> names = known->accelerator_names();
  std::vector<std::string> beginnings;
  for (const std::string& name : names) {
    if (name == word || name == wanted) return name;
    if (name.starts_with(wanted + "_")) beginnings.push_back(name);
  }
  std::vector<std::string> called;
  for (const Accelerator& accelerator : known->accelerators()) {
    const auto is_wanted = [&](const std::string& text) { return normal(text) == wanted; };
    if (is_wanted(accelerator.product) ||
        std::any_of(accelerator.trace_names.begin(), accelerator.trace_names.end(), is_wanted)) {
      called.push_back(accelerator.name);
    }
  }
  const std::vector<std::string>& found = called.empty() ? beginnings : called;
  if (found.size() == 1) return found.front();
  if (!found.empty()) {
    return Error{ErrorCode::not_found, fmt::format("accelerator '{}' may be any of {}; name one",
                                                   word, fmt::join(found, ", "))};
  }
  return std::string(word);
}

Result<std::string> accelerator_option(const std::string& word) {
  if (word.empty()) return word;
  FORETRACE_TRY(auto name, accelerator_named(word).with_context("--accelerator"));
  FORETRACE_TRY(const CataloguePtr known, catalogue());
  const auto found = known->accelerator(name);
  if (!found.ok() && !names_file(name)) return Error(found.error()).with_context("--accelerator");
  return name;
}

Status resolve_names(std::vector<WhatIfSpec>& what_ifs) {
  for (WhatIfSpec& what_if : what_ifs) {
    FORETRACE_TRY(what_if.name, what_if_named(what_if.name));
  }
  return ok_status();
}

}  // namespace foretrace::app
