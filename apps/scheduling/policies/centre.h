// The middle of all divisions of one kind of accelerator that give every job what it needs.
#pragma once

#include <cstdint>
#include <vector>

namespace foretrace::scheduling {

/// Shares of time y with least <= y <= 1 and a sum of gpus * y of at most the capacity, as far from
/// all of these limits as possible: the analytic centre, which is what interior-point solvers
/// return where many divisions are equally good. The least shares themselves if they fill the
/// capacity.
[[nodiscard]] std::vector<double> centre(const std::vector<double>& least,
                                         const std::vector<std::int32_t>& gpus, double capacity);

}  // namespace foretrace::scheduling
