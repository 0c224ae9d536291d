#include "tests/validation/studies/fill.h"

#include "apps/scheduling/model/occupancy.h"

namespace foretrace::scheduling {

std::vector<FillPoint> fill(const Cluster& cluster, std::span<const Request> requests,
                            Placement& placement) {
  Occupancy occupancy(cluster);
  std::vector<FillPoint> points;
  points.reserve(requests.size());
  FillPoint point;
  for (const Request& request : requests) {
    point.asked_milli += std::int64_t{request.gpus} * request.milli;
    const auto slices = placement.place(occupancy, request);
    if (slices) {
      for (const Slice& slice : *slices) occupancy.take(slice);
    } else {
      ++point.rejected;
    }
    point.allocated_milli = occupancy.allocated_milli();
    points.push_back(point);
  }
  return points;
}

}  // namespace foretrace::scheduling
