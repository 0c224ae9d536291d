// Only counts accelerators: any that are free will do.
//
// paper     - (the "count" scheme of J. Gu et al., Tiresias, NSDI 2019, and most textbooks)
// assumes   - a job is as fast on any accelerators of a kind
// ignores   nodes, cores, host memory
// calibrate nothing
#include <array>
#include <memory>
#include <utility>

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

Result<std::unique_ptr<Placement>> make(const PlacementSetup& /*setup*/,
                                        const ParamValues& /*params*/) {
  return std::unique_ptr<Placement>(std::make_unique<Count>());
}

constexpr std::array<std::string_view, 1> assumptions = {
    "A job is as fast on any accelerators of a kind, wherever they are."};
constexpr std::array<std::string_view, 1> ignores = {"nodes, cores and host memory"};

constexpr PlacementInfo info = {
    .name = "count",
    .summary = "Count accelerators only; any that are free will do.",
    .paper =
        "J. Gu et al., Tiresias: A GPU Cluster Manager for Distributed Deep Learning, NSDI "
        "2019 (scheme count)",
    .recipe = "A job starts when as many accelerators of a kind are free as it asks for.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "nothing",
    .params = {},
    .make = make};

}  // namespace
}  // namespace foretrace::scheduling::count_parts

namespace foretrace::placements {
extern const PlacementInfo count;
constinit const PlacementInfo count = scheduling::count_parts::info;
}  // namespace foretrace::placements
