#include "tests/validation/tables/tables.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/core/params.h"

namespace foretrace {
namespace {

bool fits(std::string_view pattern, std::string_view id) {
  return pattern.ends_with('*') ? id.starts_with(pattern.substr(0, pattern.size() - 1))
                                : id == pattern;
}

template <typename Value>
Result<std::shared_ptr<const Value>> remembered(
    std::map<std::string, std::shared_ptr<const Value>>& known, const Catalogue& catalogue,
    const std::string& name, Result<Value> (*find)(const Catalogue&, std::string_view)) {
  const auto at = known.find(name);
  if (at != known.end()) return at->second;
  FORETRACE_TRY(auto found, find(catalogue, name));
  return known[name] = std::make_shared<const Value>(std::move(found));
}

}  // namespace

bool TableReaderInfo::takes_minutes(std::string_view id) const {
  return std::any_of(slow_tables.begin(), slow_tables.end(),
                     [id](std::string_view pattern) { return fits(pattern, id); });
}

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
  // Without the names of all models: rows that name none are many.
  const auto find = [](const Catalogue& catalogue, std::string_view name) -> Result<ModelSpec> {
    auto model = find_model(catalogue, name);
    if (!model.ok()) {
      return Error{ErrorCode::not_found, fmt::format("unknown model {}", in_quotes(name))};
    }
    return model;
  };
  return remembered<ModelSpec>(models_, catalogue_, called, find);
}

}  // namespace foretrace
