// Which constants hold for an operator on an accelerator: fitted ones, or those of all devices.
#pragma once

#include <optional>

#include "models/hardware/catalogue/accelerator.h"
#include "models/hardware/catalogue/operator_fit.h"

namespace foretrace {

/// A form with its constants and the rates of the device that it is asked for.
struct OperatorModel {
  OperatorFit fit;
  DeviceRates rates;
  bool fitted = false;  ///< to a table of this accelerator; false: usual constants, a roofline
};

/// At the typical sustained clock. Products of other precisions than the tables' and operators
/// without a table get the usual constants with the rates of the accelerator's file; bf16 is taken
/// for fp16.
[[nodiscard]] OperatorModel operator_model(const Accelerator& accelerator, OperatorKind kind,
                                           Precision precision);

/// The usual constants: tiles for products, rows for reductions of rows, else bytes.
[[nodiscard]] OperatorModel usual_model(const Accelerator& accelerator, OperatorKind kind,
                                        Precision precision);

/// Time in ns; 0 where the accelerator has no rate for it.
[[nodiscard]] inline double model_ns(const OperatorModel& model, const OperatorShape& shape) {
  return fitted_ns(model.fit, model.rates, shape);
}

}  // namespace foretrace
