// Recordings with device memory for tests of what `whatif` answers.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "apps/session/predict.h"
#include "apps/session/recording/load.h"
#include "models/hardware/catalogue/accelerator.h"
#include "models/whatifs/what_if_spec.h"
#include "tests/configs.h"

namespace foretrace::test {

inline const std::string demo_memory_trace =
    FORETRACE_SOURCE_DIR "/examples/traces/demo_generated_cnn_memory.json.gz";

struct Loaded {
  Recording recording;
  Replay replay;
};

inline Loaded loaded(const std::string& path) {
  LoadOptions options{.catalogue = shipped()};
  options.memory_graph = true;
  auto recording = load(path, options);
  REQUIRE_MESSAGE(recording.ok(), recording.error().message);
  auto replay = foretrace::replay(*recording);
  REQUIRE_MESSAGE(replay.ok(), replay.error().message);
  return {*std::move(recording), *std::move(replay)};
}

/// Nothing, with a message, where the shared traces are not here.
inline std::optional<Loaded> loaded_real(const std::string& name) {
  const std::string path = FORETRACE_SHARED_DIR "/traces/" + name + ".json.gz";
  if (!std::filesystem::exists(path)) {
    MESSAGE("skipped: no real trace ", name);
    return std::nullopt;
  }
  return loaded(path);
}

inline std::vector<WhatIf> stack_of(const std::vector<std::string>& texts) {
  const auto specs = parse_stack(texts);
  REQUIRE_MESSAGE(specs.ok(), specs.error().message);
  std::vector<WhatIf> stack;
  for (const WhatIfSpec& spec : *specs) {
    const auto what_if = check_what_if(spec);
    REQUIRE_MESSAGE(what_if.ok(), what_if.error().message);
    stack.push_back(*what_if);
  }
  return stack;
}

}  // namespace foretrace::test
