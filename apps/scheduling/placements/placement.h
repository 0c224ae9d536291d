// What a file in apps/scheduling/placements/ exports: a rule for which accelerators a job
// gets.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "apps/scheduling/model/occupancy.h"
#include "apps/scheduling/model/throughput.h"
#include "apps/scheduling/model/workload.h"
#include "sim/core/few_texts.h"
#include "sim/core/params.h"
#include "sim/core/result.h"

namespace foretrace::scheduling {

/// Chooses accelerators. One object belongs to one run.
class Placement {
 public:
  Placement() = default;
  Placement(const Placement&) = delete;
  Placement& operator=(const Placement&) = delete;
  virtual ~Placement() = default;

  /// Slices for all of the request, by node; none: there is no room of the right shape. Empty:
  /// which accelerators they are does not matter.
  [[nodiscard]] virtual std::optional<std::vector<Slice>> place(const Occupancy& occupancy,
                                                                const Request& request) = 0;

  // Who asks, for those that look at how long jobs stay; the others need none of it.
  /// The next request is that of this job.
  virtual void consider(JobId /*job*/, std::int64_t /*now_ns*/) {}
  /// The job got these slices.
  virtual void started(JobId /*job*/, std::span<const Slice> /*slices*/) {}
  /// It let them go.
  virtual void left(JobId /*job*/) {}
};

/// What a placement may know before the run.
struct PlacementSetup {
  const Cluster* cluster = nullptr;
  const Workload* workload = nullptr;
  std::uint64_t seed = 0;
  const Throughput* throughput = nullptr;  ///< null: how long jobs take is not known
};

struct PlacementInfo {
  std::string_view name;
  std::string_view summary;    ///< one line
  std::string_view paper;      ///< authors, title, venue, year
  std::string_view recipe;     ///< how it chooses, in a few sentences
  FewTexts assumptions;        ///< each a thing that could be false
  FewTexts ignores;            ///< what is left out
  std::string_view calibrate;  ///< where its parameters come from
  std::span<const ParamInfo> params;
  Result<std::unique_ptr<Placement>> (*make)(const PlacementSetup& setup,
                                             const ParamValues& params);
};

/// Makes a placement without parameters of what it may know, or of nothing.
template <typename P>
[[nodiscard]] Result<std::unique_ptr<Placement>> make_as(const PlacementSetup& setup,
                                                         const ParamValues& /*params*/) {
  if constexpr (std::is_constructible_v<P, const PlacementSetup&>) {
    return std::unique_ptr<Placement>(std::make_unique<P>(setup));
  } else {
    return std::unique_ptr<Placement>(std::make_unique<P>());
  }
}

}  // namespace foretrace::scheduling

namespace foretrace::placements {
using scheduling::PlacementInfo;
/// Every placement, sorted by name (generated from the files of apps/scheduling/placements).
[[nodiscard]] std::span<const PlacementInfo* const> all();
}  // namespace foretrace::placements
