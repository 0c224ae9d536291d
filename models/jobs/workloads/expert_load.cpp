#include "models/jobs/workloads/expert_load.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace foretrace {
namespace {

// Loads are drawn from p(x) ~ x^-a between two bounds, as NVIDIA's aiconfigurator generates them
// for few tokens (power law in MoE workload simulation, 2025); here every expert takes a quantile
// of its own, and the bounds are the same for many tokens: how popular an expert is does not depend
// on them, and a step is never much slower for one token more.
std::vector<double> loads_of(const ExpertSpec& experts) {
  constexpr double low = 0.01;
  constexpr double high = 2;
  const double power = 1 - experts.load_exponent;
  const double from = std::pow(low, power);
  const double to = std::pow(high, power);
  std::vector<double> loads(experts.count);
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const double quantile = (static_cast<double>(i) + 0.5) / static_cast<double>(loads.size());
    loads[i] = std::pow(from + quantile * (to - from), 1 / power);
  }
  return loads;
}

}  // namespace

double reached_experts(const ExpertSpec& experts, double tokens, bool is_balanced) {
  const double count = experts.count;
  const double each = experts.top_k / count;
  if (is_balanced || !(experts.load_exponent > 0)) {
    return count * (1 - std::pow(1 - each, tokens));
  }
  const std::vector<double> loads = loads_of(experts);
  double sum = 0;
  for (const double load : loads) sum += load;
  double reached = 0;
  for (const double load : loads) {
    const double visits = std::min(1.0, experts.top_k * load / sum);
    reached += 1 - std::pow(1 - visits, tokens);
  }
  return std::clamp(reached, std::min(count, static_cast<double>(experts.top_k)), count);
}

}  // namespace foretrace
