// How long one step of a serving engine takes: some tokens of prompts and one token of each
// sequence that writes, all through the model at once.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "models/hardware/networks/cluster.h"
#include "models/jobs/times/framework.h"
#include "models/jobs/times/kernel_times.h"
#include "models/jobs/workloads/model_spec.h"
#include "sim/core/result.h"

namespace foretrace {

/// A model as one group of accelerators serves it. Pointers are not owned and never null.
struct ServedModel {
  const TransformerSpec* model = nullptr;
  const Cluster* cluster = nullptr;
  const Framework* framework = nullptr;
  std::uint32_t tensor = 1;   ///< accelerators that divide every layer
  std::uint32_t experts = 1;  ///< groups of these over which experts are spread whole
  Precisions precisions{Precision::bf16, false};
  /// Bytes of a stored weight: of experts where the model has some, else of all layers. Below the
  /// bytes of the arithmetic, weights are made whole as they are read.
  double weight_bytes = 2;
  double cache_bytes = 2;        ///< of a number in the cache of keys and values
  double one_shot_ns = 0;        ///< fixed time of an all-reduce in one kernel; 0: there is none
  std::uint32_t query_tile = 0;  ///< see ServingEngine::query_tile_on
};
/// Errors read "/parallelism/tensor: ...".
[[nodiscard]] Status check_served(const ServedModel& served);

/// A part of a prompt, behind what is computed already.
struct PromptPart {
  double tokens = 0;
  double before = 0;
};

/// What one step computes.
struct StepWork {
  double writers = 0;      ///< sequences that get one token each
  double writer_keys = 0;  ///< positions that they attend to, all together
  double drawn = 0;  ///< sequences whose next token is drawn: writers and prompts at their end
  std::vector<PromptPart> prompts;

  [[nodiscard]] double tokens() const;
};

/// Device time of a step by where it comes from, in ns.
struct StepTime {
  std::array<double, cost_source_count> by_source{};
  double least_ns = 0;  ///< what memory at its peak takes to read the weights that the step needs
  [[nodiscard]] double total() const;
  /// At an end of its range: no shorter than the weights take.
  [[nodiscard]] double at(double factor) const;
};

/// Not thread-safe: it remembers what it computed.
class StepCost {
 public:
  explicit StepCost(const ServedModel& served);

  [[nodiscard]] StepTime of(const StepWork& work);
  /// How far the time of such a step may be off, as factors of it: what was measured of such steps;
  /// without evidence sources as independent errors.
  [[nodiscard]] Ranged spread(const StepTime& time) const;

  [[nodiscard]] double weight_bytes() const { return weight_bytes_; }  ///< of one accelerator
  /// Of one accelerator while a step of so many tokens runs, of so many sequences.
  [[nodiscard]] double working_bytes(double tokens, double sequences) const;
  /// Of one token on one accelerator, all layers.
  [[nodiscard]] double cache_bytes_per_token() const { return cache_bytes_; }

 private:
  struct Attention {
    Operator op;
    double count = 0;  ///< layers
  };
  StepTime dense(std::uint32_t tokens, bool head);
  void add(const Operator& op, double tokens, double count, StepTime& time) const;
  void add_exchange(const Exchange& exchange, double count, StepTime& time) const;
  void add_attention(const StepWork& work, StepTime& time) const;
  [[nodiscard]] KernelTime attend(const Operator& op, bool beside_prompts) const;

  ServedModel served_;
  KernelTimes kernels_;
  std::vector<Attention> attention_;
  double weight_bytes_ = 0;
  double cache_bytes_ = 0;
  std::unordered_map<std::uint32_t, StepTime> body_;  ///< by tokens; looked up, never walked
  std::unordered_map<std::uint32_t, StepTime> head_;  ///< by sequences whose token is drawn
};

}  // namespace foretrace
