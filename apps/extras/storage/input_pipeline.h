// The input of a training job from a cache and remote storage: workers make batches ahead of the
// steps, and a step waits for its batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/extras/storage/cache.h"

namespace foretrace::storage {

/// Where items are read from. Its bandwidth is shared: one item after the other.
struct Tier {
  std::int64_t latency_ns = 0;  ///< of every item, of several at once
  double bytes_per_s = 1;
};

struct InputOptions {
  Tier cache;
  Tier remote;
  CacheOptions kept;
  std::size_t batch = 1;
  std::size_t workers = 1;
  std::size_t prefetch = 2;    ///< batches in flight per worker
  std::int64_t decode_ns = 0;  ///< of an item in a worker
  std::int64_t step_ns = 0;    ///< without waiting for its input
};

/// Items in the order in which they are read, epoch after epoch.
struct InputOrder {
  std::vector<Access> accesses;
  std::vector<std::size_t> epoch_ends;  ///< one behind the last access of each
};

struct EpochFigures {
  std::int64_t reads = 0;
  std::int64_t hits = 0;
  double remote_bytes = 0;
  std::int64_t steps = 0;
  std::int64_t stall_ns = 0;  ///< steps waited for their batch
  std::int64_t time_ns = 0;
};

/// One entry per epoch. A batch does not reach into the next epoch.
[[nodiscard]] std::vector<EpochFigures> run_input(const InputOrder& order,
                                                  const InputOptions& options);

}  // namespace foretrace::storage
