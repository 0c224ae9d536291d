// The pages of foretrace-validate.
#pragma once

#include <vector>

#include "apps/report/builder.h"
#include "tests/validation/claims/claims.h"
#include "tests/validation/tables/tables.h"

namespace foretrace::report {

namespace sections {
Builder<std::vector<driver::ClaimRow>> predicted_claims;
Builder<driver::TablesReport> measured_tables;
}  // namespace sections

/// foretrace.validation/1.
[[nodiscard]] Page claims_page(const std::vector<driver::ClaimRow>& claims);
/// foretrace.tables/1.
[[nodiscard]] Page tables_page(const driver::TablesReport& tables);

}  // namespace foretrace::report
