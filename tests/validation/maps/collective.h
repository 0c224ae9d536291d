// A measured collective that a row describes.
#pragma once

#include <string>

#include "tests/validation/maps/figure.h"
#include "tests/validation/maps/law.h"
#include "tests/validation/tables/tables.h"

namespace foretrace::validation {

/// What would be predicted of a point if nothing measured of its kind were used.
struct LeftOut {
  Figure figure;
  MeasuredOf of{};  ///< without its residual
};

struct CollectivePrediction {
  Figure us;
  LeftOut left_out;  ///< of the machine without measured curves of this collective
  Law law;
  std::string size;  ///< the class of its size
  /// A measured curve of the machine's file holds the row: it says nothing about how well the file
  /// predicts.
  bool is_fitted = false;
  MeasuredOf of{};  ///< empty: what is left out says the same
};

/// {"cluster": "polaris", "collective": {"kind": "all_reduce", "bytes": 1024, "nodes": 2,
///  "per_node": 4}}
[[nodiscard]] Result<CollectivePrediction> predict_collective(const ConfigValue& run,
                                                              double measured_us,
                                                              TableInputs& inputs);

}  // namespace foretrace::validation
