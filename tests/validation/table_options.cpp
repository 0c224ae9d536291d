#include "tests/validation/table_options.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace foretrace::app {

void add_tables(Arguments& cli, TableOptions& options) {
  cli.add_option("--tables", options.folders,
                 "folder with tables of measured figures (foretrace-truth/1): predict their rows; "
                 "may be repeated");
  cli.add_option("--only", options.only, "ids of tables, separated by commas");
  cli.add_option("--inputs", options.inputs,
                 "folder with tables that others need; they are read and not scored");
  cli.add_option("--ranges", options.ranges,
                 "file for how far predictions are off by framework and accelerator");
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

Result<TablesReport> tables_of_folders(const Catalogue& catalogue, const TableOptions& options) {
  const auto move_to = [](auto& all, auto& more) {
    all.insert(all.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
  };
  TablesReport all;
  for (const std::string& folder : options.folders) {
    FORETRACE_TRY(auto report, validation::validate_tables(
                                   catalogue, {folder, separated(options.only), options.inputs}));
    move_to(all.tables, report.tables);
    move_to(all.unknown, report.unknown);
    move_to(all.broken, report.broken);
    move_to(all.left_out, report.left_out);
  }
  return all;
}

}  // namespace foretrace::app
