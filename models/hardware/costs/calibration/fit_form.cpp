// Free parameters of each form, and the search over them.
#include "models/hardware/costs/calibration/fit_form.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "models/hardware/costs/calibration/minimize.h"
#include "models/hardware/kernels/kernel_class.h"

namespace foretrace::costing {
namespace {

// Sizes of rows that may stay on chip.
constexpr std::array row_limits = {2048.0, 4096.0, 8192.0, 16384.0, 32768.0, 49152.0, 65536.0};
// Softmax keeps rows in the shared memory of a block, normalization relies on the first cache.
constexpr double usual_limit(OperatorKind kind) {
  return kind == OperatorKind::softmax ? 49152 : 16384;
}
// Three passes over what does not stay (statistics, their refinement, the result) read and write
// twice as much as one.
constexpr double usual_passes = 2;
// A block of 256 to 1024 threads with one vector load each in flight for about a microsecond.
constexpr double usual_row_rate = 8;
// How much better than the usual constants others must be, in rows' worth of error: few long rows
// do not overrule them, many do.
constexpr double limit_weight = 0.2;
constexpr double passes_weight = 0.2;

// Maps free parameters to constants: those of the form first, then three per table.
class Layout {
 public:
  Layout(const RowGroup& group, const std::vector<bool>& use, FitForm form, double row_limit) {
    base_.fit.kind = group.rows.front().row.kind;
    base_.fit.precision = group.rows.front().row.precision;
    base_.fit.form = form;
    base_.fit.row_limit = row_limit;
    const bool product = is_product(base_.fit.kind);
    add(&OperatorFit::bandwidth_share, {0.75, 0.02, 1});
    if (product) add(&OperatorFit::rate_share, {0.75, 0.02, 1.3});
    if (form == FitForm::tiles) {
      add(&OperatorFit::operand_traffic, {16, 0.5, 200});
      add(&OperatorFit::tile_overhead_k, {55, 1, 400});
      add(&OperatorFit::split_ns, {2000, 300, 20000});
    }
    if (form == FitForm::rows) {
      add(&OperatorFit::excess_passes, {usual_passes, 1, 5});
      add(&OperatorFit::row_bytes_per_ns, {usual_row_rate, 1, 400});
    }
    for (std::size_t s = 0; s < group.sources.size(); ++s) {
      base_.sources.push_back({group.sources[s], 1, 0, 0});
      double shortest = HUGE_VAL;
      for (std::size_t i = 0; i < group.rows.size(); ++i) {
        if (use[i] && group.rows[i].source == s) {
          shortest = std::min(shortest, group.rows[i].row.measured_ns);
        }
      }
      if (shortest == HUGE_VAL) continue;  // no row to tell its terms from
      add(s, &SourceTerms::fixed_ns, {std::min(4000.0, shortest), 300, 2e5});
      add(s, &SourceTerms::floor_ns, {0.9 * shortest, 100, 1e6});
      if (product && s > 0) add(s, &SourceTerms::clock, {1, 0.5, 2});
    }
  }

  [[nodiscard]] const std::vector<FreeParameter>& parameters() const { return parameters_; }
  [[nodiscard]] FormResult at(std::span<const double> values) const {
    FormResult result = base_;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Place& place = places_[i];
      if (place.constant != nullptr) {
        result.fit.*place.constant = values[i];
      } else {
        result.sources[place.source].*place.term = values[i];
      }
    }
    return result;
  }

 private:
  struct Place {
    double OperatorFit::*constant = nullptr;
    std::size_t source = 0;
    double SourceTerms::*term = nullptr;
  };
  void add(double OperatorFit::*constant, const FreeParameter& parameter) {
    places_.push_back({constant, 0, nullptr});
    parameters_.push_back(parameter);
  }
  void add(std::size_t source, double SourceTerms::*term, const FreeParameter& parameter) {
    places_.push_back({nullptr, source, term});
    parameters_.push_back(parameter);
  }

  FormResult base_;
  std::vector<Place> places_;
  std::vector<FreeParameter> parameters_;
};

// Four digits say all that such a fit knows, and files read back to the same constants.
double rounded(double value) {
  if (!(value > 0)) return 0;
  double unit = 1;
  while (value < 1000 * unit) unit /= 10;
  while (value >= 10000 * unit) unit *= 10;
  return unit < 1 ? std::round(value / unit) / std::round(1 / unit)
                  : std::round(value / unit) * unit;
}

// The slowest clock is clock 1 and the device's fixed time that of the fastest timer.
void normalize(FormResult& result) {
  double slowest = HUGE_VAL;
  double fixed = HUGE_VAL;
  for (const SourceTerms& source : result.sources) {
    slowest = std::min(slowest, source.clock);
    if (source.fixed_ns > 0) fixed = std::min(fixed, source.fixed_ns);
  }
  result.fit.rate_share = rounded(result.fit.rate_share * slowest);
  for (SourceTerms& source : result.sources) {
    source.clock = rounded(source.clock / slowest);
    source.fixed_ns = rounded(source.fixed_ns);
    source.floor_ns = rounded(source.floor_ns);
  }
  result.fit.fixed_ns = fixed == HUGE_VAL ? 0 : rounded(fixed);
  for (double OperatorFit::*constant :
       {&OperatorFit::bandwidth_share, &OperatorFit::operand_traffic, &OperatorFit::tile_overhead_k,
        &OperatorFit::split_ns, &OperatorFit::excess_passes, &OperatorFit::row_bytes_per_ns}) {
    result.fit.*constant = rounded(result.fit.*constant);
  }
}

// 0 where equal, 1 at twice or half.
double distance(double value, double usual) { return std::max(value / usual, usual / value) - 1; }

double mean_error(const FormResult& constants, const RowGroup& group, const DeviceRates& peak,
                  const std::vector<bool>& use) {
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    if (!use[i]) continue;
    const double ratio =
        measured_by(constants, peak, group.rows[i]) / group.rows[i].row.measured_ns;
    sum += std::abs(ratio - 1);
    ++count;
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

void set_bounds(FormResult& result, const RowGroup& group, const std::vector<bool>& use) {
  std::vector<double> ratios;
  for (const double error : errors_of(result, group, use)) ratios.push_back(1 / (1 + error));
  if (ratios.empty()) return;
  std::sort(ratios.begin(), ratios.end());
  result.fit.low = std::min(1.0, rounded(ratios[ratios.size() / 10]));
  result.fit.high = std::max(1.0, rounded(ratios[ratios.size() - 1 - ratios.size() / 10]));
}

}  // namespace

DeviceRates peak_rates(const Accelerator& accelerator, Precision precision) {
  DeviceRates rates;
  rates.flops_per_ns = accelerator.flops(precision) * 1e-9;
  rates.bytes_per_ns = accelerator.memory_bandwidth * 1e-9;
  rates.multiprocessors = std::max(accelerator.multiprocessors, 1);
  rates.number_bytes = bytes_per_number(precision);
  return rates;
}

double measured_by(const FormResult& constants, const DeviceRates& peak, const SourcedRow& row) {
  const SourceTerms& source = constants.sources[row.source];
  OperatorFit fit = constants.fit;
  fit.fixed_ns = source.fixed_ns;
  DeviceRates device = peak;
  device.flops_per_ns *= source.clock;
  return std::max(source.floor_ns, fitted_ns(fit, device, row.row.shape));
}

FormResult fit_form(const RowGroup& group, const std::vector<bool>& use, FitForm form) {
  const DeviceRates peak = peak_rates(*group.accelerator, group.rows.front().row.precision);
  const auto rows =
      static_cast<double>(std::max<std::ptrdiff_t>(1, std::count(use.begin(), use.end(), true)));
  FormResult best;
  double least = HUGE_VAL;
  const std::size_t starts = form == FitForm::rows ? row_limits.size() : 1;
  for (std::size_t start = 0; start < starts; ++start) {
    const Layout layout(group, use, form, row_limits[start]);
    const auto objective = [&](std::span<const double> point) {
      const FormResult result = layout.at(point);
      return mean_error(result, group, peak, use) +
             passes_weight *
                 (distance(result.fit.excess_passes, usual_passes) +
                  distance(result.fit.row_bytes_per_ns, usual_row_rate)) /
                 rows;
    };
    const auto values = minimize(layout.parameters(), objective);
    const bool usual = row_limits[start] == usual_limit(group.rows.front().row.kind);
    const double value = objective(values) + (usual ? 0 : limit_weight / rows);
    if (!(value < least)) continue;
    least = value;
    best = layout.at(values);
  }
  normalize(best);
  set_bounds(best, group, use);
  best.fitted = summarize(errors_of(best, group, use));
  return best;
}

std::vector<double> errors_of(const FormResult& constants, const RowGroup& group,
                              const std::vector<bool>& use) {
  const DeviceRates peak = peak_rates(*group.accelerator, constants.fit.precision);
  std::vector<double> errors;
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    if (!use[i]) continue;
    errors.push_back(measured_by(constants, peak, group.rows[i]) / group.rows[i].row.measured_ns -
                     1);
  }
  return errors;
}

}  // namespace foretrace::costing
