#include "apps/session/session.h"

#include <utility>

#include "apps/session/load_run.h"
#include "apps/session/predict.h"
#include "apps/session/recording/modelled.h"
#include "sim/core/once.h"
#include "sim/core/whole.h"

namespace foretrace {

struct Session::State {
  std::shared_ptr<const Recording> recording;
  RunOptions options;
  Replay replay;
  Once<Analysis> analysis{};
  Once<MemoryModel> memory_model{};
  Once<HeldMemory> memory{};
  Once<std::optional<MemoryNeed>> need{};
  Once<std::int64_t> batch{};
};

struct Answer::State {
  Session session;
  std::vector<WhatIf> stack;
  Prediction prediction;
  std::optional<Throughput> throughput{};
  Once<Analysis> analysis{};
  Once<HeldMemory> memory{};
  Once<std::optional<MemoryNeed>> need{};
  Once<std::optional<MemoryTarget>> target{};
};

Result<Session> Session::of(std::shared_ptr<const Recording> recording, const RunOptions& options) {
  FORETRACE_TRY(auto replayed, foretrace::replay(*recording, options));
  return Session(
      std::make_shared<const State>(State{std::move(recording), options, std::move(replayed)}));
}

Result<Session> Session::of(Recording recording, const RunOptions& options) {
  return of(std::make_shared<const Recording>(std::move(recording)), options);
}

const Recording& Session::recording() const { return *state_->recording; }
const RunOptions& Session::options() const { return state_->options; }
const Replay& Session::replay() const { return state_->replay; }

const Analysis& Session::analysis() const {
  return state_->analysis.get([&] { return analyse(graph(), run(), options()); });
}

PathReport Session::path(std::size_t groups) const {
  return path_report(graph(), run(), groups, options());
}

const MemoryModel& Session::memory_model() const {
  return state_->memory_model.get([&] { return MemoryModel(recording(), run().timeline); });
}

const HeldMemory& Session::memory() const {
  return state_->memory.get([&] { return memory_model().held(graph(), run().timeline); });
}

const std::optional<MemoryNeed>& Session::need() const {
  return state_->need.get([&] { return memory_model().need(memory()); });
}

std::int64_t Session::batch() const {
  return state_->batch.get([&]() -> std::int64_t {
    if (const auto& modelled = recording().modelled; modelled != nullptr) {
      return to_whole(modelled->scenario->job.global_batch);
    }
    return recording().job == nullptr ? recorded_batch(recording()) : 0;
  });
}

Result<Answer> Session::ask(std::span<const WhatIf> stack, Neutral neutral) const {
  RunOptions how = options();
  how.neutral = neutral;
  FORETRACE_TRY(auto prediction, predict(recording(), stack, how, &replay()));
  return Answer(*this, stack, std::move(prediction));
}

Result<Answer> Session::ask(std::span<const WhatIfSpec> stack) const {
  FORETRACE_TRY(const auto checked, check_stack(stack));
  return ask(checked);
}

Result<Answer> Session::ask(std::initializer_list<WhatIfSpec> stack) const {
  return ask(std::span(stack.begin(), stack.size()));
}

Answer::Answer(const Session& session, std::span<const WhatIf> stack, Prediction prediction) {
  State state{session, {stack.begin(), stack.end()}, std::move(prediction)};
  if (state.prediction.samples) {
    state.throughput = throughput_of(session.batch(), session.run(), state.prediction);
  }
  state_ = std::make_shared<const State>(std::move(state));
}

const Session& Answer::session() const { return state_->session; }
const std::vector<WhatIf>& Answer::stack() const { return state_->stack; }
const Prediction& Answer::prediction() const { return state_->prediction; }
const std::optional<Throughput>& Answer::throughput() const { return state_->throughput; }

std::string Answer::name() const {
  std::string names;
  for (const Applied& applied : prediction().applied) {
    names += (names.empty() ? "" : " + ") + std::string(applied.info->name);
  }
  return names;
}

double Answer::speedup() const { return speedup_of(session().step_ns(), step_ns(), samples()); }

const Analysis& Answer::analysis() const {
  return state_->analysis.get([&] { return analyse(graph(), run(), session().options()); });
}

PathReport Answer::path(std::size_t groups) const {
  return path_report(graph(), run(), groups, session().options());
}

const HeldMemory& Answer::memory() const {
  return state_->memory.get([&] { return session().memory_model().held(graph(), run().timeline); });
}

const std::optional<MemoryNeed>& Answer::need() const {
  return state_->need.get([&] { return session().memory_model().need(memory()); });
}

const std::optional<MemoryTarget>& Answer::target() const {
  return state_->target.get([&]() -> std::optional<MemoryTarget> {
    const std::optional<Accelerator>& device = prediction().accelerator;
    if (!device || !session().need() || !need()) return std::nullopt;
    return target_of(session().recording(), *session().need(), *device);
  });
}

Result<Session> open(std::span<const std::string> inputs, const SessionOptions& options) {
  LoadOptions how = options.load;
  if (how.catalogue == nullptr && !options.configs.empty()) {
    FORETRACE_TRY(auto catalogue, Catalogue::read(options.configs));
    how.catalogue = std::make_shared<const Catalogue>(std::move(catalogue));
  }
  FORETRACE_TRY(auto recording, load_run(inputs, how));
  return Session::of(std::move(recording), options.run);
}

Result<Session> open(const std::string& input, const SessionOptions& options) {
  return open(std::span(&input, 1), options);
}

}  // namespace foretrace
