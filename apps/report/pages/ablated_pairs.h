// Pairs of recordings on the page of `validate --ablate`.
#pragma once

#include <vector>

#include "apps/questions/validate/ablated_pairs.h"
#include "apps/report/section.h"

namespace foretrace::report {

/// Puts them behind the replays.
void add_ablated_pairs(const std::vector<AblatedPairs>& rules, Page& page);

}  // namespace foretrace::report
