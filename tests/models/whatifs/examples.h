// The example parameters that ship with each what-if: configs/optimizations/<family>/<name>.json.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/core/config.h"

namespace foretrace::test {

/// Where the file of a what-if lies, whatever its family; empty if there is none.
inline std::string example_path(std::string_view name) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           FORETRACE_SOURCE_DIR "/configs/optimizations")) {
    if (entry.path().stem() == name) return entry.path().string();
  }
  return {};
}

/// Its parameters as key and text.
inline std::vector<std::pair<std::string, std::string>> example_of(std::string_view name) {
  auto config = read_config(example_path(name), "foretrace.what_if/1");
  REQUIRE_MESSAGE(config.ok(), config.error().message);
  const ConfigValue* info = config->find("optimization");
  REQUIRE(info != nullptr);
  CHECK(info->text == name);
  const ConfigValue* parameters = config->find("parameters");
  REQUIRE(parameters != nullptr);
  std::vector<std::pair<std::string, std::string>> given;
  for (std::size_t i = 0; i < parameters->keys.size(); ++i) {
    given.emplace_back(parameters->keys[i], parameters->items[i].text);
  }
  return given;
}

}  // namespace foretrace::test
