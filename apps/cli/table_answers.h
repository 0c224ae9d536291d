// validate --tables: published and measured figures beside predictions.
#pragma once

#include <string>
#include <vector>

#include "apps/cli/arguments.h"
#include "apps/cli/console.h"

namespace foretrace::app {

struct TableOptions {
  std::string folder;
  std::vector<std::string> only;
  std::string inputs;
};

void add_tables(Arguments& cli, TableOptions& options);
/// The answer of the command, and its exit code.
[[nodiscard]] int answer_tables(const TableOptions& options, const CommonOptions& common,
                                bool markdown);

}  // namespace foretrace::app
