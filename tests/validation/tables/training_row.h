// What the rows of tables of language model training have in common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/driver/scenario/open_choices.h"
#include "tests/validation/tables/row_prediction.h"

namespace foretrace::driver {

/// A run as a table describes it; 0 and empty stand for what it does not say.
struct TrainingRow {
  std::string model;  ///< as the table calls it
  std::string cluster;
  std::string framework;
  std::string precision = "bf16";
  double gpus = 1;
  double tensor = 1;
  double pipeline = 1;
  double context = 1;
  double expert = 1;
  double chunks = 1;  ///< 0: the fastest
  double shards = 0;  ///< ranks that share parameters
  Sharding sharding = Sharding::none;
  double layers = 0;  ///< of a shortened model
  double vocabulary = 0;
  double length = 0;
  double micro_batch = 1;
  double global_batch = 1;
  bool sequence = false;
  std::vector<Recompute> recomputes = {Recompute::none};  ///< the fastest that fits
  bool ignores_memory = false;
};

/// "H100" and "DGX-H100" are dgx_h100, and so on; empty if no cluster of ours has it.
[[nodiscard]] std::string cluster_of(std::string_view accelerator);
/// "BF16", "FP8", "FP8-MX": a precision of scenarios; empty if it is none.
[[nodiscard]] std::string precision_of(std::string_view name);

/// The scenario of a row, with the fastest recomputation that fits.
[[nodiscard]] Result<Scenario> training_scenario(const TrainingRow& row, TableInputs& inputs);

}  // namespace foretrace::driver
