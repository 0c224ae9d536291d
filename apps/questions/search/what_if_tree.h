// Many stacks of what-ifs at once: what they begin with together is applied once.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "apps/session/what_if_stack.h"

namespace foretrace {

/// The what-ifs that stacks are made of.
struct StackSteps {
  std::span<const WhatIf> what_ifs;
  /// The first so many are the user's: they stay where they change nothing. One of the others that
  /// changes nothing has no place in a stack.
  std::size_t given = 0;
};

/// Applies every stack: numbers of `steps`, in order. Calls visit(i, stack) once for each of them,
/// from several threads; null if a step of it cannot be applied. Stacks that begin alike share that
/// part; no more of these parts are kept than the threads are at work on.
void for_each_stack(const Recording& recording, const StackSteps& steps,
                    std::span<const std::vector<std::size_t>> stacks,
                    const std::function<void(std::size_t, const WhatIfStack*)>& visit);

}  // namespace foretrace
