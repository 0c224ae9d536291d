// Cuts layers into stages of a pipeline, so that the slowest stage is as fast as it can be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace foretrace {

/// First layer of each stage; every stage has at least one of the layers, in order. Of equally good
/// cuts the one whose first stages hold most. At most as many stages as layers.
[[nodiscard]] std::vector<std::size_t> cut_stages(std::span<const std::int64_t> layer_ns,
                                                  std::size_t stages);

}  // namespace foretrace
