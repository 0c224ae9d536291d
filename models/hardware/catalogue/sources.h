// Where the figures of a config file are from: every figure needs an entry.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/core/config.h"

namespace foretrace {

using FigureSources = std::vector<std::pair<std::string, std::string>>;

/// Reads the member "sources" of a config. Every key of `root` that is not in `no_figures` needs a
/// text: its own ("peak_flops/fp8") or that of its group ("peak_flops").
[[nodiscard]] FigureSources read_sources(ConfigFields& fields, const ConfigValue& root,
                                         std::span<const std::string_view> no_figures);

}  // namespace foretrace
