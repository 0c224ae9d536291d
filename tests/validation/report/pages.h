// The pages of foretrace-validate.
#pragma once

#include <vector>

#include "apps/report/builder.h"
#include "tests/validation/claims/claims.h"
#include "tests/validation/pairs/pairs.h"
#include "tests/validation/tables/tables.h"

namespace foretrace::report {

namespace sections {
Builder<std::vector<ClaimRow>> predicted_claims;
Builder<TablesReport> measured_tables;
Builder<WhatIfPairs> two_what_ifs;
}  // namespace sections

/// foretrace.validation/1.
[[nodiscard]] Page claims_page(const std::vector<ClaimRow>& claims);
/// foretrace.pairs/1.
[[nodiscard]] Page pairs_page(const WhatIfPairs& pairs);
/// foretrace.tables/1.
[[nodiscard]] Page tables_page(const TablesReport& tables);

}  // namespace foretrace::report
