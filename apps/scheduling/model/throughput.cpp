#include "apps/scheduling/model/throughput.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "apps/scheduling/model/cluster.h"
#include "apps/scheduling/model/job.h"

namespace foretrace::scheduling {

ThroughputTable::Entry& ThroughputTable::entry(TypeId type) {
  if (index(type) >= entries_.size()) entries_.resize(index(type) + 1);
  return entries_[type];
}

void ThroughputTable::set(TypeId type, const Where& where, double steps_per_s) {
  std::vector<Rate>& rates = entry(type).rates;
  const auto known = std::find_if(rates.begin(), rates.end(), [&](const Rate& rate) {
    return rate.kind == where.kind && rate.gpus == where.gpus && rate.placement == where.placement;
  });
  if (known != rates.end()) {
    known->steps_per_s = steps_per_s;
  } else {
    rates.push_back({where.kind, where.gpus, steps_per_s, where.placement});
  }
}

void ThroughputTable::set_together(TypeId first, TypeId second, const Where& where,
                                   std::pair<double, double> steps_per_s) {
  pairs_[{first, second, where.kind, where.gpus}] = steps_per_s;
  pairs_[{second, first, where.kind, where.gpus}] = {steps_per_s.second, steps_per_s.first};
}

double ThroughputTable::rate(TypeId type, const Where& where) const {
  if (index(type) >= entries_.size()) return 0;
  const Entry& entry = entries_[type];
  // The measured placement, else the mean of those on the nearest number of nodes.
  constexpr std::size_t far = std::numeric_limits<std::size_t>::max();
  std::size_t nearest = far;
  double sum = 0;
  int number = 0;
  for (const Rate& rate : entry.rates) {
    if (rate.kind != where.kind || rate.gpus != where.gpus) continue;
    if (rate.placement == where.placement) return rate.steps_per_s;
    const std::size_t nodes = rate.placement.size();
    const std::size_t wanted = where.placement.size();
    const std::size_t distance = nodes > wanted ? nodes - wanted : wanted - nodes;
    if (distance > nearest) continue;
    if (distance < nearest) {
      nearest = distance;
      sum = 0;
      number = 0;
    }
    sum += rate.steps_per_s;
    ++number;
  }
  if (number > 0) return sum / number;
  return entry.is_clock ? 1 : 0;
}

std::optional<std::pair<double, double>> ThroughputTable::together(TypeId first, TypeId second,
                                                                   const Where& where) const {
  const auto found = pairs_.find({first, second, where.kind, where.gpus});
  if (found == pairs_.end()) return std::nullopt;
  return found->second;
}

std::string placement_name(std::vector<std::int32_t> per_node) {
  constexpr std::int32_t digits = 10;
  std::sort(per_node.begin(), per_node.end(), std::greater<>());
  std::string name;
  for (const std::int32_t gpus : per_node) {
    if (gpus > 0) name += static_cast<char>(gpus < digits ? '0' + gpus : 'a' + (gpus - digits));
  }
  return name;
}

double seconds_alone(const Cluster& cluster, const Throughput& throughput, const Job& job) {
  double best = 0;
  for (std::size_t i = 0; i < cluster.kinds.size(); ++i) {
    const auto kind = make_id<KindId>(i);
    if (!job.request.allows(kind)) continue;
    best = std::max(best, throughput.rate(job.type, {.kind = kind, .gpus = job.request.gpus}));
  }
  return best > 0 ? job.steps() / best : 0;
}

}  // namespace foretrace::scheduling
