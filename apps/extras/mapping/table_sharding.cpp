// Zha et al., NeuroShard, MLSys 2023, and its public code: the search. Its cost models are learned;
// here costs are bytes over rates.
#include "apps/extras/mapping/table_sharding.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace foretrace::mapping {
namespace {

// The cap on numbers per sample, in multiples of an even division.
constexpr double smallest_cap = 1.0;
constexpr double largest_cap = 1.5;
constexpr int caps = 11;

double lookup_seconds(const ShardingProblem& problem, const EmbeddingTable& table) {
  return problem.batch * table.pooling * table.dim * problem.number_bytes /
         problem.lookup_bytes_per_s;
}

double table_bytes(const ShardingProblem& problem, const EmbeddingTable& table) {
  return table.rows * table.dim * problem.number_bytes;
}

/// Parts by falling cost of their lookup.
std::vector<std::size_t> slowest_first(const ShardingProblem& problem,
                                       const std::vector<EmbeddingTable>& parts) {
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return lookup_seconds(problem, parts[a]) > lookup_seconds(problem, parts[b]);
  });
  return order;
}

/// Each part onto the device with the least lookup so far; none if one has no room.
std::optional<std::vector<std::size_t>> greedy(const ShardingProblem& problem,
                                               const std::vector<EmbeddingTable>& parts,
                                               double most_dims) {
  std::vector<double> seconds(problem.devices, 0);
  std::vector<double> bytes(problem.devices, 0);
  std::vector<double> dims(problem.devices, 0);
  std::vector<std::size_t> device(parts.size(), 0);
  for (const std::size_t part : slowest_first(problem, parts)) {
    std::size_t best = problem.devices;
    for (std::size_t d = 0; d < problem.devices; ++d) {
      const bool fits = bytes[d] + table_bytes(problem, parts[part]) <= problem.memory_bytes &&
                        dims[d] + parts[part].dim <= most_dims;
      if (fits && (best == problem.devices || seconds[d] < seconds[best])) best = d;
    }
    if (best == problem.devices) return std::nullopt;
    seconds[best] += lookup_seconds(problem, parts[part]);
    bytes[best] += table_bytes(problem, parts[part]);
    dims[best] += parts[part].dim;
    device[part] = best;
  }
  return device;
}

void place_parts(const ShardingProblem& problem, ShardPlan& plan) {
  double dims = 0;
  for (const EmbeddingTable& part : plan.parts) dims += part.dim;
  const double even = dims / static_cast<double>(problem.devices);
  plan.seconds = HUGE_VAL;
  for (int i = 0; i < caps; ++i) {
    const double scale = smallest_cap + (largest_cap - smallest_cap) * i / (caps - 1);
    const auto device = greedy(problem, plan.parts, even * scale);
    if (!device) continue;
    const auto seconds = plan_seconds(problem, plan.parts, *device);
    if (!seconds || *seconds >= plan.seconds) continue;
    plan.seconds = *seconds;
    plan.device = *device;
  }
  // Few tables cannot be divided evenly: without the cap.
  const auto device = greedy(problem, plan.parts, HUGE_VAL);
  if (!device) return;
  const auto seconds = plan_seconds(problem, plan.parts, *device);
  if (seconds && *seconds < plan.seconds) {
    plan.seconds = *seconds;
    plan.device = *device;
  }
}

/// Parts that may be halved: the largest and the slowest, each once.
std::vector<std::size_t> to_halve(const ShardingProblem& problem, const ShardPlan& plan,
                                  std::size_t count) {
  std::vector<std::size_t> largest(plan.parts.size());
  std::iota(largest.begin(), largest.end(), 0);
  std::stable_sort(largest.begin(), largest.end(), [&](std::size_t a, std::size_t b) {
    return table_bytes(problem, plan.parts[a]) > table_bytes(problem, plan.parts[b]);
  });
  std::vector<std::size_t> chosen = slowest_first(problem, plan.parts);
  chosen.resize(std::min(count, chosen.size()));
  largest.resize(std::min(count, largest.size()));
  for (const std::size_t part : largest) {
    if (std::find(chosen.begin(), chosen.end(), part) == chosen.end()) chosen.push_back(part);
  }
  // Rows stay multiples of two numbers.
  std::erase_if(chosen, [&](std::size_t part) { return std::fmod(plan.parts[part].dim, 4) != 0; });
  return chosen;
}

ShardPlan halved(const ShardingProblem& problem, const ShardPlan& plan, std::size_t part) {
  ShardPlan next = plan;
  next.parts[part].dim /= 2;
  next.parts.push_back(next.parts[part]);
  next.of.push_back(next.of[part]);
  next.device.assign(next.parts.size(), 0);
  place_parts(problem, next);
  return next;
}

ShardPlan whole_tables(const ShardingProblem& problem) {
  ShardPlan plan;
  plan.parts = problem.tables;
  plan.of.resize(plan.parts.size());
  std::iota(plan.of.begin(), plan.of.end(), 0);
  plan.device.assign(plan.parts.size(), 0);
  return plan;
}

}  // namespace

std::optional<double> plan_seconds(const ShardingProblem& problem,
                                   const std::vector<EmbeddingTable>& parts,
                                   const std::vector<std::size_t>& device) {
  std::vector<double> lookup(problem.devices, problem.lookup_s);
  std::vector<double> bytes(problem.devices, 0);
  std::vector<double> dims(problem.devices, 0);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    lookup[device[i]] += lookup_seconds(problem, parts[i]);
    bytes[device[i]] += table_bytes(problem, parts[i]);
    dims[device[i]] += parts[i].dim;
  }
  const auto devices = static_cast<double>(problem.devices);
  double ready = 0;
  std::vector<double> back(problem.devices, 0);
  for (std::size_t d = 0; d < problem.devices; ++d) {
    if (bytes[d] > problem.memory_bytes) return std::nullopt;
    back[d] = problem.exchange_s + problem.batch * dims[d] * problem.number_bytes * (devices - 1) /
                                       devices / problem.link_bytes_per_s;
    ready = std::max(ready, lookup[d] + back[d]);
  }
  // An exchange ends for nobody before the last one is there: who was early waits for it.
  return ready + *std::max_element(back.begin(), back.end());
}

std::optional<ShardPlan> shard_tables(const ShardingProblem& problem, const ShardSearch& search) {
  ShardPlan best = whole_tables(problem);
  place_parts(problem, best);
  std::vector<ShardPlan> beam = {best};
  for (std::size_t step = 0; step < search.steps && !beam.empty(); ++step) {
    std::vector<ShardPlan> next;
    for (const ShardPlan& plan : beam) {
      for (const std::size_t part : to_halve(problem, plan, search.candidates)) {
        next.push_back(halved(problem, plan, part));
      }
    }
    std::stable_sort(next.begin(), next.end(),
                     [](const ShardPlan& a, const ShardPlan& b) { return a.seconds < b.seconds; });
    if (next.size() > search.beam) next.resize(search.beam);
    if (!next.empty() && next.front().seconds < best.seconds) best = next.front();
    beam = std::move(next);
  }
  if (best.seconds == HUGE_VAL) return std::nullopt;
  return best;
}

}  // namespace foretrace::mapping
