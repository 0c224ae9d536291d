#include "tests/validation/table_options.h"

#include <algorithm>

namespace foretrace::app {

void add_tables(Arguments& cli, TableOptions& options) {
  cli.add_option("--tables", options.folder,
                 "folder with tables of measured figures (foretrace-truth/1): predict their rows");
  cli.add_option("--only", options.only, "ids of tables, separated by commas");
  cli.add_option("--inputs", options.inputs,
                 "folder with tables that others need; they are read and not scored");
}

namespace {

// "a,b" and "--only a --only b" are the same.
std::vector<std::string> separated(const std::vector<std::string>& given) {
  std::vector<std::string> names;
  for (const std::string& text : given) {
    for (std::size_t from = 0; from <= text.size();) {
      const std::size_t comma = std::min(text.find(',', from), text.size());
      if (comma > from) names.push_back(text.substr(from, comma - from));
      from = comma + 1;
    }
  }
  return names;
}

}  // namespace

validation::TablesOptions tables_options(const TableOptions& options) {
  return {options.folder, separated(options.only), options.inputs};
}

}  // namespace foretrace::app
