// A cluster as a scheduler sees it: nodes with accelerators of one kind, cores and memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/scheduling/model/ids.h"
#include "sim/core/ids.h"

namespace foretrace::scheduling {

struct Kind {
  std::string name;
  double price_per_hour = 0;  ///< of one accelerator; 0: not given
};

/// A whole accelerator is 1,000 parts.
inline constexpr std::int32_t whole = 1000;
/// Accelerators of a node are bits of a mask.
inline constexpr std::int32_t most_gpus_per_node = 64;

struct Node {
  KindId kind{};
  std::int32_t gpus = 0;
  std::int64_t cpu_milli = 0;   ///< thousandths of a core; 0: cores are not counted
  std::int64_t memory_mib = 0;  ///< 0: host memory is not counted
};

struct Cluster {
  Column<KindId, Kind> kinds;
  Column<NodeId, Node> nodes;

  [[nodiscard]] std::int32_t gpus_of(KindId kind) const;
  [[nodiscard]] std::int32_t gpus() const;
};

}  // namespace foretrace::scheduling
