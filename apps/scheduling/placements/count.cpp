// Only counts accelerators: any that are free will do.

#include "apps/scheduling/placements/placement.h"

namespace foretrace::scheduling::count_parts {
namespace {

class Count final : public Placement {
 public:
  std::optional<std::vector<Slice>> place(const Occupancy& /*occupancy*/,
                                          const Request& /*request*/) override {
    return std::vector<Slice>{};
  }
};

}  // namespace

extern constexpr PlacementInfo info = {
    .name = "count",
    .summary = "Count accelerators only; take any free ones.",
    .paper =
        "J. Gu et al., Tiresias: A GPU Cluster Manager for Distributed Deep Learning, NSDI "
        "2019 (scheme count)",
    .recipe = "A job starts when as many accelerators of a kind are free as it asks for.",
    .assumptions = {"A job is as fast on any accelerators of a kind, wherever they are."},
    .ignores = {"nodes, cores and host memory"},
    .calibrate = "nothing",
    .params = {},
    .make = make_as<Count>};

}  // namespace foretrace::scheduling::count_parts
