// The face of the library: a run that is opened once and asked often.
//
//   const auto session = foretrace::open("trace.json.gz");
//   const auto answer = session->ask({with::mixed_precision(), with::parallel({.data = 64})});
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/session/prediction.h"
#include "apps/session/recording/load.h"
#include "apps/session/replay/analysis.h"
#include "apps/session/replay/memory_need.h"
#include "apps/session/replay/replay.h"
#include "apps/session/throughput.h"
#include "models/whatifs/what_if_spec.h"
#include "sim/core/result.h"

namespace foretrace {

class Answer;

/// A recording and its replay. Copies share both, and nothing of a session changes: several threads
/// may ask one. What takes time beyond the replay is computed when it is first asked for, and kept.
class Session {
 public:
  [[nodiscard]] static Result<Session> of(std::shared_ptr<const Recording> recording,
                                          const RunOptions& options = {});
  [[nodiscard]] static Result<Session> of(Recording recording, const RunOptions& options = {});

  [[nodiscard]] const Recording& recording() const;
  [[nodiscard]] const RunOptions& options() const;
  [[nodiscard]] const Replay& replay() const;
  [[nodiscard]] const TaskGraph& graph() const { return recording().graph(); }
  [[nodiscard]] const Run& run() const { return replay().run; }
  [[nodiscard]] std::int64_t step_ns() const { return run().answer.step_ns; }

  [[nodiscard]] const Analysis& analysis() const;
  [[nodiscard]] PathReport path(std::size_t groups) const;
  [[nodiscard]] const MemoryModel& memory_model() const;
  [[nodiscard]] const HeldMemory& memory() const;
  [[nodiscard]] const std::optional<MemoryNeed>& need() const;  ///< see MemoryModel::need
  [[nodiscard]] std::int64_t batch() const;                     ///< see recorded_batch; 0 of a job

  /// What the stack makes of the run; the order of its what-ifs does not matter. An empty one gives
  /// the run as it was recorded. Errors: ErrorCode::no_match if a what-if finds nothing to change.
  [[nodiscard]] Result<Answer> ask(std::span<const WhatIf> stack,
                                   Neutral neutral = Neutral::keep) const;
  /// The same of what-ifs that are not checked yet.
  [[nodiscard]] Result<Answer> ask(std::span<const WhatIfSpec> stack) const;
  [[nodiscard]] Result<Answer> ask(std::initializer_list<WhatIfSpec> stack) const;

 private:
  struct State;
  explicit Session(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

/// What a stack of what-ifs makes of a session's run: complete, and never changed. Copies share it;
/// what takes time is computed when it is first asked for, by whichever thread, and kept.
class Answer {
 public:
  [[nodiscard]] const Session& session() const;
  [[nodiscard]] const std::vector<WhatIf>& stack() const;  ///< what was asked
  [[nodiscard]] std::string name() const;                  ///< "mixed_precision + fused_optimizer"
  [[nodiscard]] const Prediction& prediction() const;
  [[nodiscard]] const TaskGraph& graph() const { return prediction().graph; }
  [[nodiscard]] const Run& run() const { return prediction().run; }
  [[nodiscard]] std::int64_t step_ns() const { return run().answer.step_ns; }
  [[nodiscard]] std::int64_t low_ns() const { return prediction().low_ns; }
  [[nodiscard]] std::int64_t high_ns() const { return prediction().high_ns; }
  /// Of a step / of a recorded one.
  [[nodiscard]] double samples() const { return prediction().samples.value_or(1); }
  [[nodiscard]] double speedup() const;  ///< of the work per time, see speedup_of
  /// Nothing where the what-ifs leave samples as they are.
  [[nodiscard]] const std::optional<Throughput>& throughput() const;

  [[nodiscard]] const Analysis& analysis() const;
  [[nodiscard]] PathReport path(std::size_t groups) const;
  [[nodiscard]] const HeldMemory& memory() const;
  [[nodiscard]] const std::optional<MemoryNeed>& need() const;  ///< see MemoryModel::need
  /// The memory of the device that it runs on; nothing where the device or need() is not known.
  [[nodiscard]] const std::optional<MemoryTarget>& target() const;
  /// True too where it is not known.
  [[nodiscard]] bool fits() const { return !target() || target()->fits(*need()); }

 private:
  friend class Session;
  struct State;
  Answer(const Session& session, std::span<const WhatIf> stack, Prediction prediction);
  std::shared_ptr<const State> state_;
};

/// How a run is opened.
struct SessionOptions {
  std::string configs{};  ///< folder of the catalogue, where `load` has none; empty: no catalogue
  LoadOptions load{};
  RunOptions run{};
};
/// Loads and replays a recording, a trace or the ranks of a job, or a scenario; see load_run().
[[nodiscard]] Result<Session> open(std::span<const std::string> inputs,
                                   const SessionOptions& options = {});
[[nodiscard]] Result<Session> open(const std::string& input, const SessionOptions& options = {});

}  // namespace foretrace
