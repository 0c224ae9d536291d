// A served model under load: replicas, requests that arrive by the clock or one after the other,
// and, where prompts have replicas of their own, caches that travel.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "apps/serving/engine.h"
#include "apps/serving/request.h"
#include "apps/serving/step_cost.h"

namespace foretrace {

struct ServiceOptions {
  StepRules rules;
  std::int64_t cache_blocks = 0;  ///< of each replica
  std::uint32_t replicas = 1;     ///< that compute prompts and write; with prompt replicas: write
  std::uint32_t prompt_replicas = 0;  ///< only prompts; 0: prompts and writing share replicas
  double transfer_bytes_per_s = 0;    ///< of one accelerator to its partner
  std::int64_t transfer_latency_ns = 0;
  std::uint32_t in_flight = 0;  ///< 0: requests arrive by the clock; else so many at any time
  double host_step_ns = 0;      ///< of every step, during which the device waits
  double host_request_ns = 0;   ///< from its client to its replica and back, taken before it
  double host_sequence_ns = 0;  ///< the same, for each sequence of the step
  double host_token_ns = 0;     ///< in the one process that hands tokens on; nobody waits for it
  double factor = 1;            ///< of device times: the ends of their range
  std::int64_t most_visits = 200'000'000;  ///< work that a run may be: some ten seconds
};

struct Service {
  std::vector<ServedRequest> requests;  ///< in the order that they were given
  std::int64_t end_ns = 0;              ///< of the last step, and of what is handed on behind it
  std::int64_t busy_ns = 0;             ///< of all replicas
  std::int64_t steps = 0;
  std::int64_t preemptions = 0;
  std::int64_t most_blocks = 0;  ///< used at once by the fullest replica
  /// Steps that were formed, and sequences that changed in them.
  std::int64_t visits = 0;
  bool is_whole = true;  ///< else it was stopped after so many as it may take
  StepTime device;       ///< of all steps by source
};

/// Requests by arrival. A request whose tokens never fit in the cache is refused.
[[nodiscard]] Service run_service(std::span<const ServingRequest> requests,
                                  const ServiceOptions& options, StepCost& cost);

/// What the cache may have of a device.
struct CacheBudget {
  double share = 0.9;
  CacheShare of = CacheShare::device;
};

/// Blocks that the memory of a device has room for beside the weights; 0: none.
[[nodiscard]] std::int64_t cache_blocks_of(const StepCost& cost, const Accelerator& accelerator,
                                           const CacheBudget& budget, const StepRules& rules);
/// The share with which the cache has so many tokens; not positive, or above 1: none has.
[[nodiscard]] double share_of_cache(const StepCost& cost, const Accelerator& accelerator,
                                    CacheShare of, const StepRules& rules, double tokens);

}  // namespace foretrace
