// The page of `federated`.
#pragma once

#include <vector>

#include "apps/extras/federated/federated.h"
#include "apps/extras/federated/rounds.h"
#include "apps/report/section.h"

namespace foretrace::report {

struct FederatedAnswer {
  const FederatedRun& run;
  std::vector<federated::RoundFigures> figures;  ///< by policy
};
/// foretrace.federated_result/1.
[[nodiscard]] Page federated_page(const FederatedAnswer& answer);

}  // namespace foretrace::report
