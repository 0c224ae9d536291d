// What an accelerator's board draws: nearly nothing beside its limit while it waits, most of it
// while kernels fill it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/hardware/catalogue/catalogue.h"
#include "sim/core/result.h"
#include "sim/graph/task.h"

namespace foretrace {

struct BoardPower {
  double idle_w = 0;
  double busy_w = 0;
  double limit_w = 0;
  double less = 1;                              ///< what it draws may be this many times less
  double more = 1;                              ///< the same upwards
  Provenance provenance = Provenance::assumed;  ///< table: the shares were measured on this board
};

struct Energy {
  double joules = 0;
  double low_joules = 0;
  double high_joules = 0;
  double watts = 0;  ///< mean
  Provenance provenance = Provenance::assumed;
};

/// None: configs/power does not know the board. Error: what is wrong in its file.
[[nodiscard]] Result<std::optional<BoardPower>> board_power(const Catalogue& catalogue,
                                                            std::string_view accelerator);

/// Of one board: `filled_ns` of `time_ns` kernels fill it. Never above the limit.
[[nodiscard]] Energy energy_of(const BoardPower& power, std::int64_t time_ns, double filled_ns);

}  // namespace foretrace
