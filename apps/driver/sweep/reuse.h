// A store whose sweep file has changed: rows of points that are still points are kept.
#pragma once

#include <cstdint>

#include "apps/driver/sweep/store.h"
#include "apps/driver/sweep/sweep.h"
#include "sim/core/result.h"

namespace foretrace::sweeping {

struct Reuse {
  std::uint64_t old_rows = 0;  ///< 0: the sweep is the same
  std::uint64_t reused = 0;
};

/// Makes the store one of this sweep. A row is kept if its document is that of a point, and all
/// metrics are there. Errors: inputs or program have changed, or no row applies; nothing is changed
/// then.
[[nodiscard]] Result<Reuse> reuse_store(const Sweep& sweep, const StoreFacts& facts, Store& store);

}  // namespace foretrace::sweeping
