#include "models/jobs/program/block_program.h"

#include <algorithm>

#include "models/jobs/times/two_lanes.h"

namespace foretrace {

std::string_view to_string(Recompute recompute) {
  switch (recompute) {
    case Recompute::none: return "none";
    case Recompute::selective: return "selective";
    case Recompute::full: return "full";
    case Recompute::operators: return "operators";
  }
  return "none";
}

void PassTime::add(const PassTime& other, double count) {
  total += count * other.total;
  overlapped += count * other.overlapped;
  again += count * other.again;
  host += count * other.host;
  host_bound += count * other.host_bound;
  for (std::size_t i = 0; i < computed.size(); ++i) computed[i] += count * other.computed[i];
  for (std::size_t i = 0; i < exposed.size(); ++i) exposed[i] += count * other.exposed[i];
  for (std::size_t i = 0; i < by_provenance.size(); ++i) {
    by_provenance[i] += count * other.by_provenance[i];
  }
}

PassTime time_of(const std::vector<Action>& actions, const Framework& framework,
                 const SourceScale& scale) {
  PassTime time;
  TwoLanes lanes(framework.communication_slowdown.typical);
  double kernels = 0;
  Axis started = Axis::tensor;
  for (const Action& action : actions) {
    const auto source = static_cast<std::size_t>(action.source);
    const double ns = action.ns * scale[source];
    kernels += action.kernels;
    const double before = lanes.now();
    switch (action.type) {
      case ActionType::compute:
        lanes.compute(ns, action.slowed);
        time.computed[source] += lanes.now() - before;
        break;
      case ActionType::start:
        static_cast<void>(lanes.start(ns));
        started = action.axis;
        break;
      case ActionType::collective:
        static_cast<void>(lanes.start(ns));
        time.exposed[static_cast<std::size_t>(action.axis)] += lanes.wait_all();
        break;
      case ActionType::wait:
        time.exposed[static_cast<std::size_t>(started)] += lanes.wait_all();
        break;
    }
    time.by_provenance[static_cast<std::size_t>(action.provenance)] += lanes.now() - before;
    if (action.is_again) time.again += lanes.now() - before;
  }
  time.exposed[static_cast<std::size_t>(started)] += lanes.wait_all();
  time.overlapped = lanes.overlapped();
  time.host = kernels * framework.host_kernel_ns.typical *
              scale[static_cast<std::size_t>(CostSource::host)];
  time.host_bound = std::max(0.0, time.host - lanes.now());
  time.total = lanes.now() + time.host_bound;
  return time;
}

}  // namespace foretrace
