// The points of a sweep as a page: objectives against each other, what each axis decides, all axes
// side by side, and a table. What is chosen in one view is marked in all.
#pragma once

#include <cstdint>
#include <string>

#include "apps/explorer/page.h"
#include "apps/sweep/store/select.h"

namespace foretrace::explorer {

struct SweepInput {
  const sweeping::StoredSweep& stored;
  std::string folder;   ///< as it was given
  std::string details;  ///< HTML of the whole answer
  std::string version;
  std::size_t most_points = 20'000;  ///< of more, every so manieth beside the best
};

/// Errors: no point is feasible, the store cannot be read.
[[nodiscard]] Result<Page> make_sweep_page(const SweepInput& input);

}  // namespace foretrace::explorer
