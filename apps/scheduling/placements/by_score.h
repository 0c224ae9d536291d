// A placement that gives every node a score and takes the best: the base of those for containers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "apps/scheduling/placements/placement.h"

namespace foretrace::scheduling {

/// The request goes to one node: of those where it fits the one with the highest score, the first
/// among equal ones. Scores go up to 100 and are kept until their node changes.
class ScoredPlacement : public Placement {
 public:
  [[nodiscard]] std::optional<std::vector<Slice>> place(const Occupancy& occupancy,
                                                        const Request& request) final;

 protected:
  /// Whole scores, the fraction cut off, as in Kubernetes; false: compared as they are.
  [[nodiscard]] virtual bool cuts_fractions() const { return true; }
  /// How well the request goes with a node where it fits.
  [[nodiscard]] virtual double score(const Occupancy& occupancy, NodeId node,
                                     const Request& request) = 0;
  /// Which accelerators of that node.
  [[nodiscard]] virtual Slice choose(const Occupancy& occupancy, NodeId node,
                                     const Request& request);

 private:
  using Key =
      std::tuple<std::int32_t, std::int32_t, std::int64_t, std::int64_t, std::vector<KindId>>;
  struct Entry {
    std::uint32_t version = 0;  ///< 0: never scored
    bool fits = false;
    double score = 0;
  };
  std::map<Key, std::vector<Entry>> kept_;
};

}  // namespace foretrace::scheduling
