// How to get what a what-if promises: the flag or the call in a framework, and its version.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/result.h"

namespace foretrace {

/// Lines by framework: {"pytorch", {...}}, and {"jax", {...}} where it is usual there.
using HowTo = std::map<std::string, std::vector<std::string>, std::less<>>;
/// By what-if.
using HowTos = std::map<std::string, HowTo, std::less<>>;

/// Of the examples in the folder of configs: "how_to" of optimizations/<family>/<name>.json. Errors
/// name the file and the place in it.
[[nodiscard]] Result<HowTos> read_how_tos(const std::string& config_directory);

/// "PyTorch: ..." and further lines behind it, then the next framework; empty if nothing is known.
[[nodiscard]] std::vector<std::string> lines_of(const HowTos& all, std::string_view what_if);

}  // namespace foretrace
