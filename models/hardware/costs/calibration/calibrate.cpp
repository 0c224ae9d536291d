// Groups the rows of tables by operator and accelerator, fits them, and measures how well the fits
// predict rows that they have not seen.
#include "models/hardware/costs/calibration/calibrate.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "models/hardware/costs/calibration/fit_form.h"
#include "sim/core/params.h"

namespace foretrace {
namespace {

using costing::RowGroup;

// Fewer rows than this leave less than three to hold back.
constexpr std::size_t fewest_rows = 9;
// Below, chance decides between forms of three and of six constants.
constexpr std::size_t fewest_for_tiles = 30;

std::uint64_t hash_of(const OperatorRow& row) {
  const std::string text = fmt::format("{} {} {} {} {}", to_string(row.kind), row.shape.batch,
                                       row.shape.m, row.shape.n, row.shape.k);
  std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  return hash ^ (hash >> 29U);
}

}  // namespace

std::vector<int> thirds(std::span<const OperatorRow> rows) {
  std::vector<std::uint64_t> hashes;
  hashes.reserve(rows.size());
  for (const OperatorRow& row : rows) hashes.push_back(hash_of(row));
  std::vector<std::uint64_t> distinct = hashes;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<int> result;
  result.reserve(rows.size());
  for (const std::uint64_t hash : hashes) {
    const auto at = std::lower_bound(distinct.begin(), distinct.end(), hash) - distinct.begin();
    result.push_back(static_cast<int>(at % 3));
  }
  return result;
}

namespace {

// predicted / measured - 1 of every row of `use`, each third of them by a fit to the others.
std::vector<double> cross_errors(
    const RowGroup& group, const std::vector<bool>& use,
    const std::function<FormResult(const std::vector<bool>& fit_on)>& fit) {
  std::vector<OperatorRow> used;
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    if (use[i]) used.push_back(group.rows[i].row);
  }
  const std::vector<int> third = thirds(used);
  std::vector<double> errors;
  for (int out = 0; out < 3; ++out) {
    std::vector<bool> fit_on = use;
    std::vector<bool> test_on(use.size(), false);
    std::size_t next = 0;
    for (std::size_t i = 0; i < use.size(); ++i) {
      if (!use[i] || third[next++] != out) continue;
      fit_on[i] = false;
      test_on[i] = true;
    }
    if (std::find(fit_on.begin(), fit_on.end(), true) == fit_on.end()) continue;
    const FormResult result = fit(fit_on);
    for (const double error : costing::errors_of(result, group, test_on)) errors.push_back(error);
  }
  return errors;
}

// Tiles where they predict products clearly better than a roofline among these rows: by twice the
// standard error of the difference, so that chance does not choose.
FitForm form_for(const RowGroup& group, const std::vector<bool>& use) {
  const OperatorKind kind = group.rows.front().row.kind;
  if (!is_product(kind)) return reduces_rows(kind) ? FitForm::rows : FitForm::roofline;
  if (group.rows.size() < fewest_for_tiles) return FitForm::roofline;
  const auto errors = [&](FitForm form) {
    return cross_errors(group, use, [&](const std::vector<bool>& fit_on) {
      return costing::fit_form(group, fit_on, form);
    });
  };
  const std::vector<double> plain = errors(FitForm::roofline);
  const std::vector<double> tiles = errors(FitForm::tiles);
  const auto count = static_cast<double>(plain.size());
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const double gain = std::abs(plain[i]) - std::abs(tiles[i]);
    sum += gain;
    squares += gain * gain;
  }
  const double mean = sum / count;
  const double variance = std::max(0.0, squares / count - mean * mean) / count;
  return mean > 0 && mean * mean > 4 * variance ? FitForm::tiles : FitForm::roofline;
}

FormResult best_fit(const RowGroup& group, const std::vector<bool>& use) {
  return costing::fit_form(group, use, form_for(group, use));
}

CalibratedOperator calibrated(const RowGroup& group) {
  const std::vector<bool> all(group.rows.size(), true);
  CalibratedOperator result;
  result.accelerator = group.accelerator->name;
  result.roofline = costing::fit_form(group, all, FitForm::roofline);
  result.roofline.held_back =
      summarize(cross_errors(group, all, [&](const std::vector<bool>& fit_on) {
        return costing::fit_form(group, fit_on, FitForm::roofline);
      }));
  result.chosen = best_fit(group, all);
  result.chosen.held_back = summarize(cross_errors(
      group, all, [&](const std::vector<bool>& fit_on) { return best_fit(group, fit_on); }));
  return result;
}

using GroupKey = std::tuple<std::string, OperatorKind, Precision>;

// Rows by accelerator, operator and precision.
class Grouping {
 public:
  Grouping(const Catalogue& catalogue, const std::optional<Accelerator>& chosen)
      : catalogue_(catalogue), chosen_(chosen) {}

  Status add(const OperatorTable& table) {
    for (const OperatorRow& row : table.rows) {
      const Accelerator* accelerator = nullptr;
      if (row.device.empty()) {
        if (!chosen_) {
          return Error{ErrorCode::bad_usage,
                       fmt::format("{}: does not say on which device it was measured, expected an "
                                   "accelerator",
                                   table.name)};
        }
        accelerator = &*chosen_;
      } else {
        accelerator = device(row.device);
      }
      if (accelerator == nullptr) {
        ++unknown_[{table.name, row.device}];
        continue;
      }
      if (chosen_ && accelerator->name != chosen_->name) continue;
      if (is_product(row.kind) && accelerator->flops(row.precision) <= 0) {
        return Error{ErrorCode::unsupported,
                     fmt::format("{}: {} states no {} rate", table.name, accelerator->name,
                                 to_string(row.precision))};
      }
      put(*accelerator, table.source, row);
    }
    return ok_status();
  }

  std::map<GroupKey, RowGroup> groups;

  [[nodiscard]] std::vector<UnusedRows> unknown() const {
    std::vector<UnusedRows> result;
    for (const auto& [where, count] : unknown_) {
      result.push_back({fmt::format("{}: device {}", where.first, in_quotes(where.second)), count,
                        "no file in configs/accelerators has this trace name"});
    }
    return result;
  }

 private:
  [[nodiscard]] const Accelerator* device(const std::string& name) const {
    return catalogue_.accelerator_of_device(name, 0);
  }
  void put(const Accelerator& accelerator, const std::string& name, const OperatorRow& row) {
    RowGroup& group = groups[{accelerator.name, row.kind, row.precision}];
    group.accelerator = &accelerator;
    auto source = std::find(group.sources.begin(), group.sources.end(), name);
    if (source == group.sources.end()) source = group.sources.insert(source, name);
    group.rows.push_back({row, static_cast<std::size_t>(source - group.sources.begin())});
  }

  const Catalogue& catalogue_;
  const std::optional<Accelerator>& chosen_;
  std::map<std::pair<std::string, std::string>, std::size_t> unknown_;
};

}  // namespace

ErrorSummary summarize(std::vector<double> errors) {
  ErrorSummary summary;
  summary.rows = errors.size();
  if (errors.empty()) return summary;
  for (double& error : errors) {
    summary.bias += error;
    error = std::abs(error);
    summary.mean += error;
  }
  const auto count = static_cast<double>(errors.size());
  summary.bias /= count;
  summary.mean /= count;
  std::sort(errors.begin(), errors.end());
  summary.median = errors[errors.size() / 2];
  summary.p90 = errors[std::min(errors.size() - 1, errors.size() * 9 / 10)];
  return summary;
}

Result<Calibration> calibrate(const Catalogue& catalogue, std::span<const OperatorTable> tables,
                              const std::optional<Accelerator>& accelerator) {
  Grouping grouping(catalogue, accelerator);
  for (const OperatorTable& table : tables) {
    FORETRACE_TRY(grouping.add(table));
  }
  Calibration calibration;
  calibration.unused = grouping.unknown();
  for (const auto& [key, group] : grouping.groups) {
    if (group.rows.size() < fewest_rows) {
      calibration.unused.push_back(
          {fmt::format("{} on {}", to_string(std::get<1>(key)), std::get<0>(key)),
           group.rows.size(), fmt::format("fewer than {} rows", fewest_rows)});
      continue;
    }
    calibration.operators.push_back(calibrated(group));
  }
  if (calibration.operators.empty()) {
    return Error{
        ErrorCode::no_match,
        calibration.unused.empty()
            ? std::string("no row to fit")
            : fmt::format("no operator has rows to fit; first reason: {}: {}",
                          calibration.unused.front().what, calibration.unused.front().reason)};
  }
  return calibration;
}

}  // namespace foretrace
