// Which tables of published and measured figures are predicted.
#pragma once

#include <string>
#include <vector>

#include "apps/cli/arguments/arguments.h"
#include "tests/validation/validate_tables.h"

namespace foretrace::app {

struct TableOptions {
  std::vector<std::string> folders;
  std::vector<std::string> only;
  std::string inputs;
  std::string ranges;  ///< file for how far predictions are off
};

/// --tables, --only, --inputs, --ranges.
void add_tables(Arguments& cli, TableOptions& options);
/// Results of one folder behind those of the other. Error: as of validate_tables().
[[nodiscard]] Result<TablesReport> tables_of_folders(const Catalogue& catalogue,
                                                     const TableOptions& options);

}  // namespace foretrace::app
