// Recordings with device memory for tests of what `whatif` answers.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "apps/session/predict.h"
#include "apps/session/session.h"
#include "models/hardware/catalogue/accelerator.h"
#include "models/whatifs/what_if_spec.h"
#include "tests/configs.h"

namespace foretrace::test {

inline const std::string demo_memory_trace =
    FORETRACE_SOURCE_DIR "/examples/traces/demo_generated_cnn_memory.json.gz";

struct Loaded {
  Session session;
  const Recording& recording = session.recording();
  const Replay& replay = session.replay();
};

inline Loaded loaded(const std::string& path) {
  SessionOptions options;
  options.load.catalogue = shipped();
  options.load.memory_graph = true;
  auto session = open(path, options);
  REQUIRE_MESSAGE(session.ok(), session.error().message);
  return {*std::move(session)};
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
