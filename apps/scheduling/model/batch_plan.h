// How the batch size of a job changes while it runs: by epoch, and what that does to its steps.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "apps/scheduling/model/ids.h"

namespace foretrace::scheduling {

/// The batch size that training wants from an epoch on.
struct WantedBatch {
  std::int64_t from_epoch = 0;
  std::int64_t batch = 0;
};

struct BatchPlan {
  std::int64_t samples_per_epoch = 0;
  std::vector<WantedBatch> wanted;  ///< by epoch, the first from epoch 0
  std::int64_t period = 0;          ///< epochs after which `wanted` begins again; 0: never
  /// It only grows, by doubling, as soon as a larger batch is wanted now or an epoch later.
  bool grows = false;
  /// What runs at each batch size; sizes that are not listed cannot be run.
  std::vector<std::pair<std::int64_t, TypeId>> types;

  [[nodiscard]] std::int64_t steps_per_epoch(std::int64_t batch) const;
  /// The batch size to change to after `steps` at `batch`; none: stay.
  [[nodiscard]] std::optional<std::int64_t> next(std::int64_t batch, double steps) const;
  [[nodiscard]] std::optional<TypeId> type_of(std::int64_t batch) const;
  /// The batch size that training wants in an epoch.
  [[nodiscard]] std::int64_t wanted_in(std::int64_t epoch) const;
};

/// Progress of a job that keeps its epochs when the batch size changes.
struct Progress {
  double total = 0;  ///< steps
  double done = 0;   ///< steps
};
[[nodiscard]] Progress rescaled(const BatchPlan& plan, const Progress& progress, std::int64_t from,
                                std::int64_t to);

}  // namespace foretrace::scheduling
