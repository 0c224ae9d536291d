// The page of `compare`.
#pragma once

#include <vector>

#include "apps/questions/compare/compare.h"
#include "apps/questions/compare/gate.h"
#include "apps/report/section.h"
#include "apps/session/replay/doubt.h"

namespace foretrace::report {

/// Two runs side by side.
struct CompareAnswer {
  const ComparedRun& before;
  const ComparedRun& after;
  const Comparison& comparison;
  std::vector<Doubt> doubts{};
  std::vector<GateCheck> gates{};  ///< what was asked to hold
};
/// foretrace.compare/1.
[[nodiscard]] Page compare_page(const CompareAnswer& answer);

}  // namespace foretrace::report
