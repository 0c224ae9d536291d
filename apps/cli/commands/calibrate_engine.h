// foretrace calibrate --engine: a serving engine's file from its own benchmarks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "apps/cli/options.h"
#include "apps/serving/calibration/calibrate_engine.h"

namespace foretrace::commands {

struct EngineLogs {
  std::vector<std::string> files;  ///< of benchmarks of vLLM or SGLang
  EngineSetup setup;
  std::string output;  ///< empty: nothing is written
  /// Of logs that do not say it.
  std::size_t requests = 0;
  std::size_t prompt = 0;
  std::size_t answer = 0;
};

/// Prints what came out.
[[nodiscard]] app::Exit calibrate_engine(const EngineLogs& logs, const app::CommonOptions& common);

}  // namespace foretrace::commands
