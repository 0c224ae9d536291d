#pragma once

#include <vector>

#include "sim/core/ranged.h"

namespace foretrace {

/// The range of a program on a device that nobody measured: no narrower to either side than the
/// middle one (of two the wider) of its ranges on devices that were measured, for where it is off
/// there, it may be here. Not the widest one: a single odd device would stand for all.
[[nodiscard]] Ranged no_narrower_than_twins(Ranged range, const std::vector<Ranged>& twins);

}  // namespace foretrace
