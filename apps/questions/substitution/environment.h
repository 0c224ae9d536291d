// Graph substitution as a game: a state is a recorded run with substitutions applied, an action is
// a rule at a match, and the reward is time (He et al., X-RLflow, MLSys 2023; Jia et al., MetaFlow,
// SysML 2019). An action that costs time at first is allowed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/session/recording/recording.h"
#include "apps/session/replay/run.h"
#include "apps/session/what_if_stack.h"
#include "sim/core/result.h"

namespace foretrace {

/// What a state costs.
struct SubstitutionCost {
  std::int64_t sum_ns = 0;       ///< of all device work, as TASO adds it up
  std::int64_t makespan_ns = 0;  ///< the simulated step
  std::size_t tasks = 0;
  friend bool operator==(const SubstitutionCost&, const SubstitutionCost&) = default;
};
enum class SubstitutionGoal : std::uint8_t { makespan, sum };

struct SubstitutionOptions {
  SubstitutionGoal goal = SubstitutionGoal::makespan;
  RunOptions run;
};

/// A state: what was applied in which order, and its cost. Copies share the graph.
class SubstitutionState {
 public:
  [[nodiscard]] const SubstitutionCost& cost() const { return cost_; }
  /// Numbers of the actions that led here.
  [[nodiscard]] const std::vector<std::size_t>& taken() const { return taken_; }
  [[nodiscard]] const TaskGraph& graph() const { return stack_.graph(); }
  /// States of equal durations, lags and waits are one: the same on every machine.
  [[nodiscard]] std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  friend class Substitutions;
  explicit SubstitutionState(WhatIfStack stack) : stack_(std::move(stack)) {}
  WhatIfStack stack_;
  std::vector<std::size_t> taken_;
  SubstitutionCost cost_;
  std::uint64_t fingerprint_ = 0;
};

/// Rules and where they match. Const, so that searches share it.
class Substitutions {
 public:
  /// A rule is a what-if. One with the parameter `select` may match at every layer of the recording
  /// and at every two layers whose kernels follow each other on a stream (operators where it tells
  /// no layers), within its own selection; another one everywhere at once. A match of one layer is
  /// that of all its steps. Empty: usual_rules(). Errors: a rule that is not known; no rule matches
  /// anywhere.
  [[nodiscard]] static Result<Substitutions> of(const Recording& recording,
                                                std::span<const WhatIfSpec> rules,
                                                const SubstitutionOptions& options);
  [[nodiscard]] static std::vector<WhatIfSpec> usual_rules();

  /// As --apply takes them; the last one does nothing and ends an episode.
  [[nodiscard]] std::span<const std::string> actions() const { return texts_; }
  [[nodiscard]] std::size_t stop() const { return texts_.size() - 1; }
  [[nodiscard]] SubstitutionState start() const { return start_; }
  /// What the action makes of the state; none: the rule does not match there. The last action
  /// leaves the state as it is. Error: the changed graph cannot be simulated.
  [[nodiscard]] Result<std::optional<SubstitutionState>> next(const SubstitutionState& state,
                                                              std::size_t action) const;
  /// Of the goal, in ns.
  [[nodiscard]] std::int64_t goal_of(const SubstitutionCost& cost) const {
    return options_.goal == SubstitutionGoal::sum ? cost.sum_ns : cost.makespan_ns;
  }

 private:
  Substitutions(SubstitutionState start, const SubstitutionOptions& options)
      : start_(std::move(start)), options_(options) {}
  [[nodiscard]] Status measure(SubstitutionState& state) const;
  std::vector<std::string> texts_;
  std::vector<WhatIf> what_ifs_;
  SubstitutionState start_;
  SubstitutionOptions options_;
};

/// What a step of an episode gives.
struct SubstitutionStep {
  double reward = 0;  ///< (time before - time after) / time of the recording
  bool done = false;
  SubstitutionCost cost;
};

/// One episode after the other, as gymnasium has them. Deterministic.
class SubstitutionEnvironment {
 public:
  explicit SubstitutionEnvironment(std::shared_ptr<const Substitutions> rules)
      : rules_(std::move(rules)), state_(rules_->start()) {}

  void reset();
  /// Which actions match here; that which ends the episode always does.
  [[nodiscard]] Result<std::vector<bool>> mask();
  /// Errors: a number that is no action, one that does not match here, an episode that has ended.
  [[nodiscard]] Result<SubstitutionStep> step(std::size_t action);
  [[nodiscard]] const SubstitutionState& state() const { return state_; }
  [[nodiscard]] const Substitutions& rules() const { return *rules_; }

 private:
  [[nodiscard]] Result<const std::optional<SubstitutionState>*> child(std::size_t action);

  std::shared_ptr<const Substitutions> rules_;
  SubstitutionState state_;
  std::map<std::size_t, std::optional<SubstitutionState>> children_;  // of this state
  bool done_ = false;
};

struct SubstitutionSearch {
  /// States up to this factor of the best cost are followed: above 1, time may grow at first.
  double relaxation = 1.05;
  std::size_t most_states = 1000;  ///< that are followed
};
struct SubstitutionFound {
  std::vector<std::size_t> actions;  ///< of the best state, in order
  SubstitutionCost cost;
  SubstitutionCost start;
  std::size_t states = 0;    ///< different ones that were simulated
  bool is_complete = false;  ///< nothing within the relaxation was left
};
/// Best first, as MetaFlow searches. Errors: a relaxation below 1.
[[nodiscard]] Result<SubstitutionFound> search_substitutions(const Substitutions& rules,
                                                             const SubstitutionSearch& search);

}  // namespace foretrace
