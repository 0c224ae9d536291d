#include "tests/validation/maps/beside.h"

#include "tests/validation/maps/overlap_slowdown.h"
#include "tests/validation/studies/row_numbers.h"

namespace foretrace::validation {

Result<BesidePrediction> predict_beside(const ConfigValue& run, double measured_us,
                                        const Catalogue& catalogue) {
  const ConfigValue* const object = run.find("beside");
  if (object == nullptr) return Error{ErrorCode::bad_config, "the map describes no kernel"};
  RowNumbers numbers({{}, *object});
  const double alone = numbers.measured("alone_us");
  const double share = numbers.number("share", 0, 1);
  FORETRACE_TRY(numbers.status());
  if (!(share > 0)) return Error{ErrorCode::no_match, "nothing ran beside it"};
  FORETRACE_TRY(const auto overlap, find_overlap(catalogue, numbers.text("factors")));
  const Ranged slowdown = overlap.of(numbers.text("kernel"));
  const auto time = [&](double factor) { return time_beside(alone, share, factor); };
  // Kernels repeat within 3 %.
  return BesidePrediction{
      {time(slowdown.typical), 0.97 * time(slowdown.low), 1.03 * time(slowdown.high)},
      overlap.is_fitted_to(alone, measured_us)};
}

}  // namespace foretrace::validation
