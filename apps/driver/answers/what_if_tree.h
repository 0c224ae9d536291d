// Many stacks of what-ifs at once: what they begin with together is applied once.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "apps/driver/what_if_stack.h"

namespace foretrace::driver {

/// Applies every stack: numbers of `steps`, in order. Calls visit(i, stack) once for each of them,
/// from several threads; null if a step of it cannot be applied. Stacks that begin alike share that
/// part; no more of these parts are kept than the threads are at work on.
void for_each_stack(const Recording& recording, std::span<const WhatIf> steps,
                    std::span<const std::vector<std::size_t>> stacks,
                    const std::function<void(std::size_t, const WhatIfStack*)>& visit);

}  // namespace foretrace::driver
