// Rules by which training jobs change their batch size (schema foretrace.batch_rules/1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/scheduling/model/batch_plan.h"
#include "sim/core/result.h"

namespace foretrace::scheduling {

/// Epochs [from, to) in which training keeps its first batch size.
struct Regime {
  std::vector<std::int64_t> batches;  ///< first batch sizes for which this holds
  std::int64_t period = 0;            ///< epochs after which it begins again; 0: never
  std::vector<std::pair<std::int64_t, std::int64_t>> critical;
};

/// Multiples of the first batch size from an epoch on.
struct Growth {
  std::int64_t batch = 0;
  std::int64_t gpus = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> multiples;  ///< epoch, multiple
};

struct ModelRules {
  std::string model;
  std::int64_t samples_per_epoch = 0;
  std::int64_t largest_batch = 0;
  std::vector<Regime> regimes;
  std::vector<Growth> growth;
};

struct BatchRules {
  std::vector<ModelRules> models;

  /// How a job changes its batch size in a mode: "accordion" (regimes), "gns" (growth). None: it
  /// keeps it. `types` of the plan are left to the caller.
  [[nodiscard]] std::optional<BatchPlan> plan(std::string_view mode, std::string_view model,
                                              std::int64_t batch, std::int64_t gpus) const;
};

/// Errors name file, JSON pointer, what was got and what is expected.
[[nodiscard]] Result<BatchRules> read_batch_rules(const std::string& path);
[[nodiscard]] Result<BatchRules> parse_batch_rules(std::string_view text, const std::string& where);

}  // namespace foretrace::scheduling
