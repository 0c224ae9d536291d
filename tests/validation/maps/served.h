// Requests to a server of a language model that rows describe: each a row of one run, or a constant
// number of equal ones per row.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/serving/serving.h"
#include "tests/validation/maps/figure.h"
#include "tests/validation/tables/tables.h"

namespace foretrace::validation {

/// "serving" of a run is a file of foretrace.serving/1, but for the name of the model, which is
/// that of tables. With "rows" in the run every row of the table is a request:
/// {"serving": {...}, "rows": {"arrival_s": "=queued_s", "input_tokens": "=input", ...}}.
class ServedPredictor {
 public:
  explicit ServedPredictor(TableInputs& inputs) : inputs_(inputs) {}
  /// Seconds of "served_token", "served_first_token" or "served_latency": of the request of this
  /// number, or the mean of all.
  [[nodiscard]] Result<Figure> predict(const ConfigValue& run, std::string_view is,
                                       std::optional<std::size_t> request);

  /// What was predicted last is measured of.
  [[nodiscard]] MeasuredOf measured() const;

 private:
  [[nodiscard]] Status serve(const ConfigValue& run);

  TableInputs& inputs_;
  std::string last_run_;  ///< many rows ask for the same
  Status last_status_ = ok_status();
  Serving serving_;
  ServingAnswer answer_;
};

/// "requests" of such a file, from what the rows say of each. Error: they are not in the order of
/// their arrival.
[[nodiscard]] Result<ConfigValue> requests_of(const std::vector<ConfigValue>& rows);

}  // namespace foretrace::validation
