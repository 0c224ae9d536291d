#include "apps/cli/table_answers.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "apps/driver/validate/tables/tables.h"
#include "apps/report/report_tables.h"

namespace foretrace::app {

void add_tables(Arguments& cli, TableOptions& options) {
  cli.add_option("--tables", options.folder,
                 "folder with tables of measured figures (foretrace-truth/1): predict their rows");
  cli.add_option("--only", options.only, "ids of tables, separated by commas").single_values();
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

int answer_tables(const TableOptions& options, const CommonOptions& common, bool markdown) {
  const auto report =
      driver::validate_tables({options.folder, separated(options.only), options.inputs});
  if (!report.ok()) {
    return failure(report.error());
  }
  return answer(common.json ? tables_json(*report).dump(2) + "\n"
                : markdown  ? tables_markdown(*report)
                            : tables_page(*report));
}

}  // namespace foretrace::app
