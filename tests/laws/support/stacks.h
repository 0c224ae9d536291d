// Runs on which stacks of what-ifs are tried: recordings of all kinds, and modelled jobs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/session/session.h"
#include "models/whatifs/what_if_spec.h"

namespace foretrace::test {

/// What a stack makes of a run.
struct StackOutcome {
  double time = 1;                           ///< a step per sample, times that of the run as it is
  double span = 1;                           ///< the same of all its steps from begin to end
  double work = 1;                           ///< the same of the work of its device
  std::optional<std::int64_t> live_bytes{};  ///< at the peak; none: no tensors are known
  /// What it makes a kind of task take more of, per sample, in all steps, whatever runs beside it:
  /// of kernels and copies as a share of the work, of all tasks and host time as one of the span.
  double more_work = 0;
  double more_time = 0;
};

/// A run, and what each what-if with its example settings makes of it.
class StackedRun {
 public:
  explicit StackedRun(Session session);

  [[nodiscard]] const Session& session() const { return session_; }
  /// Those that change something here, in the order in which they are applied.
  [[nodiscard]] const std::vector<WhatIf>& what_ifs() const { return what_ifs_; }
  [[nodiscard]] const StackOutcome& alone(std::size_t at) const { return alone_[at]; }
  [[nodiscard]] const StackOutcome& as_it_is() const { return as_it_is_; }

  /// Checks that it is an answer or declines for a reason; nothing where it declines.
  [[nodiscard]] std::optional<StackOutcome> outcome_of(std::span<const WhatIf> stack,
                                                       Neutral neutral = Neutral::keep) const;

 private:
  Session session_;
  StackOutcome as_it_is_{};
  std::vector<WhatIf> what_ifs_{};
  std::vector<StackOutcome> alone_{};
};

/// "mixed_precision + cuda_graph"
[[nodiscard]] std::string names_of(std::span<const WhatIf> stack);

/// Convolutions, transformers, recurrence, embeddings, inference; of PyTorch, JAX and vLLM; eager, in
/// graphs, of one rank and of several. Those of other people where they are present.
[[nodiscard]] std::vector<std::vector<std::string>> stacked_recordings();
/// Scenarios of training on one device and on many.
[[nodiscard]] std::vector<std::vector<std::string>> stacked_jobs();

/// How many stacks of each run a law tries: `usual`, or what FORETRACE_LAW_STACKS says.
[[nodiscard]] std::size_t law_stacks(std::size_t usual);

}  // namespace foretrace::test
