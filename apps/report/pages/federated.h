// The page of `federated`.
#pragma once

#include <vector>

#include "apps/driver/fleet/federated.h"
#include "apps/report/section.h"
#include "models/federated/rounds.h"

namespace foretrace::report {

struct FederatedAnswer {
  const driver::FederatedRun& run;
  std::vector<federated::RoundFigures> figures;  ///< by policy
};
/// foretrace.federated_result/1.
[[nodiscard]] Page federated_page(const FederatedAnswer& answer);

}  // namespace foretrace::report
