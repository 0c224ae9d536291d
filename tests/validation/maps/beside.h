// A kernel beside a collective that a row describes.
#pragma once

#include "tests/validation/maps/figure.h"
#include "tests/validation/tables/tables.h"

namespace foretrace::validation {

struct BesidePrediction {
  Figure us;
  bool is_fitted = false;  ///< the factors are from this row
};

/// {"beside": {"factors": "a100_nccl", "kernel": "ampere_sgemm_128x64_nt", "alone_us": 68.2,
///  "share": 0.9}}: a file of configs/overlap, and the share of the kernel's whole time.
[[nodiscard]] Result<BesidePrediction> predict_beside(const ConfigValue& run, double measured_us,
                                                      const Catalogue& catalogue);

}  // namespace foretrace::validation
