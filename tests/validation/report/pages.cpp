#include "tests/validation/report/pages.h"

namespace foretrace::report {

Page claims_page(const std::vector<ClaimRow>& claims) {
  return {.schema = "foretrace.validation/1",
          .sections = sections::predicted_claims(claims),
          .main_table = "claims"};
}

Page pairs_page(const WhatIfPairs& pairs) {
  return {.schema = "foretrace.pairs/1",
          .sections = sections::two_what_ifs(pairs),
          .main_table = "pairs"};
}

Page tables_page(const TablesReport& tables) {
  return {.schema = "foretrace.tables/1",
          .document_keys = {"tables", "ranges", "publishers", "unknown", "broken"},
          .sections = sections::measured_tables(tables),
          .main_table = "tables"};
}

}  // namespace foretrace::report
