#include "tests/validation/tables/tables.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "sim/core/params.h"

namespace foretrace::driver {
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

bool fits(std::string_view pattern, std::string_view id) {
  return pattern.ends_with('*') ? id.starts_with(pattern.substr(0, pattern.size() - 1))
                                : id == pattern;
}

bool is_slow(const TableReaderInfo& reader, std::string_view id) {
  return std::any_of(reader.slow_tables.begin(), reader.slow_tables.end(),
                     [id](std::string_view pattern) { return fits(pattern, id); });
}

template <typename Value>
Result<std::shared_ptr<const Value>> remembered(
    std::map<std::string, std::shared_ptr<const Value>>& known, const Catalogue& catalogue,
    const std::string& name, Result<Value> (*find)(const Catalogue&, std::string_view)) {
  const auto at = known.find(name);
  if (at != known.end()) return at->second;
  auto found = find(catalogue, name);
  if (!found.ok()) return std::move(found).error();
  return known[name] = std::make_shared<const Value>(std::move(*found));
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

const TableReaderInfo* reader_of(std::string_view id) {
  for (const TableReaderInfo* reader : table_readers::all()) {
    for (const std::string_view pattern : reader->tables) {
      if (fits(pattern, id)) return reader;
    }
  }
  return nullptr;
}

double error_of(const TablePoint& point, bool is_share) {
  return is_share ? point.predicted - point.measured : point.predicted / point.measured - 1;
}

double rank_correlation(std::span<const double> a, std::span<const double> b) {
  double score = 0;
  double pairs_a = 0;
  double pairs_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = i + 1; j < a.size(); ++j) {
      const double da = a[i] - a[j];
      const double db = b[i] - b[j];
      pairs_a += da != 0 ? 1 : 0;
      pairs_b += db != 0 ? 1 : 0;
      if (da != 0 && db != 0) score += (da > 0) == (db > 0) ? 1 : -1;
    }
  }
  return pairs_a > 0 && pairs_b > 0 ? score / std::sqrt(pairs_a * pairs_b) : 0;
}

void TableResult::add(std::size_t row, Result<TablePoint> point) {
  if (point.ok()) {
    points.push_back(*std::move(point));
  } else {
    skipped.push_back({row, point.error().message});
  }
}

TableErrors errors_of(std::span<const TablePoint> points, bool is_share) {
  TableErrors errors;
  if (points.empty()) return errors;
  std::vector<double> predicted;
  std::vector<double> measured;
  std::vector<double> sizes;
  for (const TablePoint& point : points) {
    const double error = error_of(point, is_share);
    sizes.push_back(std::abs(error));
    errors.mean += std::abs(error);
    errors.bias += error;
    errors.largest = std::max(errors.largest, std::abs(error));
    errors.covered += point.low <= point.measured && point.measured <= point.high ? 1 : 0;
    predicted.push_back(point.predicted);
    measured.push_back(point.measured);
  }
  const auto count = static_cast<double>(points.size());
  errors.mean /= count;
  errors.bias /= count;
  errors.covered /= count;
  std::sort(sizes.begin(), sizes.end());
  errors.median = sizes[sizes.size() / 2];
  errors.rank_correlation = rank_correlation(predicted, measured);
  return errors;
}

const TruthTable* TableInputs::table(std::string_view id) const {
  const auto found = std::find_if(tables_.begin(), tables_.end(),
                                  [id](const TruthTable& table) { return table.id == id; });
  return found == tables_.end() ? nullptr : &*found;
}

Result<std::shared_ptr<const Cluster>> TableInputs::cluster(const std::string& name) {
  return remembered(clusters_, catalogue_, name, find_cluster);
}
Result<std::shared_ptr<const Framework>> TableInputs::framework(const std::string& name) {
  return remembered(frameworks_, catalogue_, name, find_framework);
}
Result<std::shared_ptr<const ModelSpec>> TableInputs::model(const std::string& called) {
  return remembered(models_, catalogue_, called, model_called);
}

Result<TablesReport> validate_tables(const Catalogue& catalogue, const TablesOptions& options) {
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
  if (Status status = check_names(options.only, tables); !status.ok()) {
    return std::move(status).error();
  }
  if (Status status = add_companions(options.inputs, inputs); !status.ok()) {
    return std::move(status).error();
  }
  for (const TruthTable& table : tables) inputs.add(table);
  for (const TruthTable& table : tables) {
    if (!options.only.empty() &&
        std::find(options.only.begin(), options.only.end(), table.id) == options.only.end()) {
      continue;
    }
    const TableReaderInfo* reader = reader_of(table.id);
    if (reader == nullptr) {
      report.unknown.push_back(table.id);
      continue;
    }
    if (options.only.empty() && is_slow(*reader, table.id)) {
      report.left_out.push_back(table.id);
      continue;
    }
    auto results = reader->read(table, inputs);
    if (!results.ok()) {
      report.broken.push_back(fmt::format("{}: {}", table.path, results.error().message));
      continue;
    }
    for (TableResult& result : *results) report.tables.push_back(std::move(result));
  }
  return report;
}

}  // namespace foretrace::driver
