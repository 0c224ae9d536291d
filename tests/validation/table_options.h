// Which tables of published and measured figures are predicted.
#pragma once

#include <string>
#include <vector>

#include "apps/cli/arguments/arguments.h"
#include "tests/validation/validate_tables.h"

namespace foretrace::app {

struct TableOptions {
  std::string folder;
  std::vector<std::string> only;
  std::string inputs;
};

/// --tables, --only, --inputs.
void add_tables(Arguments& cli, TableOptions& options);
[[nodiscard]] validation::TablesOptions tables_options(const TableOptions& options);

}  // namespace foretrace::app
