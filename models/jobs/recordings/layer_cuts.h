// Cuts layers into stages of a pipeline, so that the slowest stage is as fast as it can be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace foretrace {

/// The device runs while the host launches what comes next: the longer of the two counts.
struct LayerTime {
  std::int64_t device_ns = 0;
  std::int64_t host_ns = 0;
};

/// First layer of each stage; every stage has at least one of the layers, in order. Of equally good
/// cuts the one whose first stage holds most, and the others as equal as they can be. At most as
/// many stages as layers.
[[nodiscard]] std::vector<std::size_t> cut_stages(std::span<const LayerTime> layers,
                                                  std::size_t stages);

}  // namespace foretrace
