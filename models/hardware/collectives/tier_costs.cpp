// What ASTRA-sim's collectives (astra-sim/system/collective) take on its analytical network, and
// what Calculon's networks (calculon/network.py) take.
#include "models/hardware/collectives/tier_costs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace foretrace {
namespace {

std::size_t place_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_gather: return 1;
    case CollectiveKind::reduce_scatter: return 2;
    case CollectiveKind::all_to_all: return 3;
    default: return 0;
  }
}

double hops(const Tier& tier) { return tier.links == TierLinks::switched ? 2 : 1; }

/// Messages of one member to each other one that the fullest link has to carry, each way.
double direct_load(const Tier& tier, double n) {
  if (tier.links == TierLinks::fully_connected) return 1;
  if (tier.links == TierLinks::switched) return n - 1;
  // The shorter way round: distances 1, 1, 2, 2, ..., the farthest of an even ring half each way.
  const double near = std::floor((n - 1) / 2);
  return near * (near + 1) / 2 + (std::fmod(n, 2) == 0 ? n / 4 : 0);
}

double direct_ns(const Tier& tier, double n, double part) {
  const double links = tier.links == TierLinks::ring ? std::floor(n / 2) : hops(tier);
  return links * tier.latency_ns + direct_load(tier, n) * part / tier.bandwidth * 1e9;
}

double phase_ns(const Tier& tier, CollectiveKind kind, double n, double bytes) {
  const TierAlgorithm algorithm = tier.algorithms[place_of(kind)];
  const double part = bytes / n;
  const double message = hops(tier) * tier.latency_ns + part / tier.bandwidth * 1e9;
  const double twice = kind == CollectiveKind::all_reduce ? 2 : 1;
  switch (algorithm) {
    case TierAlgorithm::ring:
      if (kind == CollectiveKind::all_to_all) return n * (n - 1) / 2 * message;
      return twice * (n - 1) * message;
    case TierAlgorithm::direct: return twice * direct_ns(tier, n, part);
    case TierAlgorithm::halving_doubling:
      return twice * (std::ceil(std::log2(n)) * hops(tier) * tier.latency_ns +
                      (n - 1) * part / tier.bandwidth * 1e9);
    case TierAlgorithm::stated: {
      const TierFactor& factor = tier.factors[place_of(kind)];
      return (factor.in_turns ? n - 1 : 1) * tier.latency_ns +
             factor.scalar * (1 + factor.offset / n) * bytes / tier.bandwidth * 1e9;
    }
  }
  return 0;
}

double message_ns(const Tier& tier, double bytes) {
  const std::size_t pairs = place_of(CollectiveKind::all_to_all);
  if (tier.algorithms[pairs] == TierAlgorithm::stated) bytes *= tier.factors[pairs].scalar;
  return hops(tier) * tier.latency_ns + bytes / tier.bandwidth * 1e9;
}

bool goes_once(CollectiveKind kind) {
  return kind == CollectiveKind::send || kind == CollectiveKind::receive ||
         kind == CollectiveKind::send_receive || kind == CollectiveKind::broadcast ||
         kind == CollectiveKind::reduce;
}

/// One collective through all tiers of its group: a phase each, and there and back where an
/// all-reduce is divided.
class Passage {
 public:
  Passage(const TierNetwork& network, const CollectiveCall& call)
      : network_(network), call_(call) {}

  [[nodiscard]] double ns() {
    const double bytes = call_.bytes / std::max(1U, network_.chunks);
    switch (call_.kind) {
      case CollectiveKind::reduce_scatter: scatter(bytes, network_.tiers.size()); break;
      case CollectiveKind::all_gather: gather_up(bytes); break;
      case CollectiveKind::all_to_all: whole(bytes); break;
      default: all_reduce(bytes); break;
    }
    const double first = sum_of(times_);
    const double slowest = *std::max_element(times_.begin(), times_.end());
    // Chunks follow each other through the tiers: the slowest one sets the pace.
    return first + (std::max(1U, network_.chunks) - 1) * slowest;
  }

 private:
  static double sum_of(const std::array<double, most_tiers>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum;
  }
  [[nodiscard]] double members(std::size_t tier) const { return call_.group.tier_ranks[tier]; }

  void phase(std::size_t tier, CollectiveKind kind, double bytes) {
    if (members(tier) > 1)
      times_[tier] += phase_ns(network_.tiers[tier], kind, members(tier), bytes);
  }

  /// From the nearest tier on, ever smaller; returns what is left.
  double scatter(double bytes, std::size_t tiers) {
    for (std::size_t i = 0; i < tiers; ++i) {
      phase(i, CollectiveKind::reduce_scatter, bytes);
      bytes /= members(i);
    }
    return bytes;
  }
  /// From the nearest tier on, ever larger, up to `bytes`.
  void gather_up(double bytes) {
    double all = 1;
    for (std::size_t i = 0; i < network_.tiers.size(); ++i) all *= members(i);
    double gathered = bytes / all;
    for (std::size_t i = 0; i < network_.tiers.size(); ++i) {
      gathered *= members(i);
      phase(i, CollectiveKind::all_gather, gathered);
    }
  }
  void whole(double bytes) {
    for (std::size_t i = 0; i < network_.tiers.size(); ++i) phase(i, call_.kind, bytes);
  }
  void all_reduce(double bytes) {
    if (!network_.divides_all_reduce) return whole(bytes);
    std::size_t widest = network_.tiers.size() - 1;
    while (widest > 0 && members(widest) <= 1) --widest;
    double left = scatter(bytes, widest);
    phase(widest, CollectiveKind::all_reduce, left);
    for (std::size_t i = widest; i-- > 0;) {
      left *= members(i);
      phase(i, CollectiveKind::all_gather, left);
    }
  }

  const TierNetwork& network_;
  const CollectiveCall& call_;
  std::array<double, most_tiers> times_{};
};

}  // namespace

double tier_ns(const TierNetwork& network, const CollectiveCall& call) {
  std::size_t widest = std::min(network.tiers.size(), most_tiers) - 1;
  while (widest > 0 && call.group.tier_ranks[widest] <= 1) --widest;
  const Tier& tier = network.tiers[widest];
  if (goes_once(call.kind)) return message_ns(tier, call.bytes);
  if (!network.passes_all) return phase_ns(tier, call.kind, call.group.ranks, call.bytes);
  return Passage(network, call).ns();
}

}  // namespace foretrace
