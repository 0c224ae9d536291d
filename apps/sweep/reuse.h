// A store whose sweep file has changed: rows of points that are still points are kept.
#pragma once

#include <cstdint>
#include <string>

#include "apps/sweep/run.h"
#include "apps/sweep/space/sweep.h"
#include "apps/sweep/store/store.h"
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

/// The store in `folder`, for writing. Errors: the space is too large to be walked, and those of
/// Store::open().
[[nodiscard]] Result<Store> open_store(const Sweep& sweep, const std::string& folder,
                                       const SweepSettings& settings);

/// Makes the store ready for rows of this sweep: anew if it is empty or forgotten, else by
/// reuse_store(). `inputs` is what Evaluation::inputs() says.
[[nodiscard]] Result<Reuse> ready_store(const Sweep& sweep, const SweepSettings& settings,
                                        const std::string& inputs, Store& store);

}  // namespace foretrace::sweeping
