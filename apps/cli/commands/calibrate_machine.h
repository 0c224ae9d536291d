// foretrace calibrate --cluster: a machine's file with measured collectives.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "apps/cli/options.h"
#include "sim/core/result.h"

namespace foretrace::commands {

struct MachineLogs {
  std::vector<std::string> files;  ///< output of nccl-tests or rccl-tests
  std::string cluster;             ///< whose structure the machine has
  std::string output;              ///< empty: nothing is written
  /// Of logs that do not say it.
  std::string collective = {};
  std::size_t ranks = 0;
  std::size_t nodes = 0;
};

/// "run.log of 2026-11-27 (NCCL 2.21.5)": when its file was written last, and by what.
[[nodiscard]] std::string log_source(const std::string& path, const std::string& program);

/// Ok for a file that holds no such logs.
[[nodiscard]] Status check_no_logs(const std::string& file);

/// Prints what came out.
[[nodiscard]] app::Exit calibrate_machine(const MachineLogs& logs,
                                          const app::CommonOptions& common);

}  // namespace foretrace::commands
