#include "tests/validation/validate_tables.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "sim/core/params.h"
#include "tests/validation/maps/predict.h"

namespace foretrace::validation {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> json_files(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".json") files.push_back(at->path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Status add_companions(const std::string& folder, TableInputs& inputs) {
  if (folder.empty()) return ok_status();
  if (std::error_code ignored; !fs::is_directory(folder, ignored)) {
    return Error{ErrorCode::not_found, fmt::format("{}: no such folder", folder)};
  }
  for (const std::string& file : json_files(folder)) {
    if (auto table = read_truth_table(file); table.ok()) inputs.add(std::move(*table));
  }
  return ok_status();
}

Status check_names(const std::vector<std::string>& only, const std::vector<TruthTable>& tables) {
  std::vector<std::string_view> ids;
  ids.reserve(tables.size());
  for (const TruthTable& table : tables) ids.push_back(table.id);
  for (const std::string& name : only) {
    if (std::find(ids.begin(), ids.end(), name) != ids.end()) continue;
    return Error{ErrorCode::not_found, fmt::format("table {}: not in the folder{}", in_quotes(name),
                                                   did_you_mean(name, ids))};
  }
  return ok_status();
}

}  // namespace

Result<TablePredictors> TablePredictors::read() {
  FORETRACE_TRY(auto maps, read_table_maps(FORETRACE_VALIDATION_DATA "/maps"));
  TablePredictors predictors;
  predictors.maps_ = std::move(maps);
  return predictors;
}

const TableMap* TablePredictors::map_of(std::string_view id) const {
  const auto found = std::find_if(maps_.begin(), maps_.end(),
                                  [id](const TableMap& map) { return map.of(id) != nullptr; });
  return found == maps_.end() ? nullptr : &*found;
}

bool TablePredictors::knows(std::string_view id) const {
  return map_of(id) != nullptr || reader_of(id) != nullptr;
}

bool TablePredictors::takes_minutes(std::string_view id) {
  const TableReaderInfo* reader = reader_of(id);
  return reader != nullptr && reader->takes_minutes(id);
}

Result<std::vector<TableResult>> TablePredictors::predict(const TruthTable& table,
                                                          TableInputs& inputs) const {
  if (const TableMap* map = map_of(table.id)) return predict_by_map(*map, table, inputs);
  if (const TableReaderInfo* reader = reader_of(table.id)) {
    return reader->read(table, inputs);
  }
  return Error{ErrorCode::not_found, fmt::format("{}: no map and no reader", table.id)};
}

Result<TablesReport> validate_tables(const Catalogue& catalogue, const TablesOptions& options) {
  FORETRACE_TRY(const auto predictors, TablePredictors::read());
  if (std::error_code ignored; !fs::is_directory(options.folder, ignored)) {
    return Error{ErrorCode::not_found, fmt::format("{}: no such folder", options.folder)};
  }
  TablesReport report;
  TableInputs inputs(catalogue);
  std::vector<TruthTable> tables;
  for (const std::string& file : json_files(options.folder)) {
    auto table = read_truth_table(file);
    if (!table.ok()) {
      report.broken.push_back(table.error().message);
      continue;
    }
    tables.push_back(std::move(*table));
  }
  if (tables.empty() && report.broken.empty()) {
    return Error{ErrorCode::not_found,
                 fmt::format("{}: no tables (*.json) in this folder", options.folder)};
  }
  FORETRACE_TRY(check_names(options.only, tables));
  FORETRACE_TRY(add_companions(options.inputs, inputs));
  for (const TruthTable& table : tables) inputs.add(table);
  for (const TruthTable& table : tables) {
    if (!options.only.empty() &&
        std::find(options.only.begin(), options.only.end(), table.id) == options.only.end()) {
      continue;
    }
    if (!predictors.knows(table.id)) {
      report.unknown.push_back(table.id);
      continue;
    }
    if (options.only.empty() && TablePredictors::takes_minutes(table.id)) {
      report.left_out.push_back(table.id);
      continue;
    }
    auto results = predictors.predict(table, inputs);
    if (!results.ok()) {
      report.broken.push_back(fmt::format("{}: {}", table.path, results.error().message));
      continue;
    }
    for (TableResult& result : *results) report.tables.push_back(std::move(result));
  }
  return report;
}

}  // namespace foretrace::validation
