// The page of `storage`.
#pragma once

#include <vector>

#include "apps/extras/storage/input_pipeline.h"
#include "apps/extras/storage/storage.h"
#include "apps/report/section.h"

namespace foretrace::report {

struct StoredAnswer {
  const StoredInput& input;
  std::vector<std::vector<storage::EpochFigures>> runs;  ///< by cache
};
/// foretrace.storage_result/1.
[[nodiscard]] Page storage_page(const StoredAnswer& answer);

}  // namespace foretrace::report
