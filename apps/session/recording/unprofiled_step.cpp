#include "apps/session/recording/unprofiled_step.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "apps/session/recording/host_events.h"
#include "apps/session/recording/measured_steps.h"
#include "apps/session/recording/without_events.h"
#include "sim/core/params.h"
#include "sim/core/text.h"
#include "sim/core/whole.h"
#include "sim/engine/pull/pull.h"
#include "sim/graph/change.h"
#include "sim/result/steps/steps.h"

namespace foretrace {
namespace {

/// The step must react to the host by more than this share, or its time says nothing of the host.
constexpr double least_reaction = 0.1;
/// More per event is no profiler's: with shapes and memory PyTorch's made steps that the host
/// limits 2 to 9 us longer per operator (DLRM in examples/studies/h100: 14 ms for 2,237 operators).
constexpr std::int64_t most_per_event_ns = 20'000;

/// The recorded graph with that host: regions and moments in its segments move with them.
Result<TaskGraph> changed(const TaskGraph& recorded, const TaskGraph& lighter) {
  Change change;
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (lighter.duration_ns(task) != recorded.duration_ns(task)) {
      change.durations.push_back({task, lighter.duration_ns(task), Provenance::scaled});
    }
    if (lighter.segment_ns(task) != recorded.segment_ns(task)) {
      change.segments.push_back({task, lighter.segment_ns(task), Provenance::scaled});
    }
  }
  FORETRACE_TRY(auto committed, commit(recorded, change));
  return std::move(committed.graph);
}

Result<StepAnswer> step_of(const TaskGraph& graph) {
  return answer_of(simulated_steps(graph, simulate(graph)), StepChoice{});
}

std::string shown(std::int64_t ns) { return four_digit_time(static_cast<double>(ns)); }

Error refused(std::string text) {
  return Error{ErrorCode::bad_usage, "unprofiled step: " + std::move(text)};
}

std::int64_t host_ns(const TaskGraph& graph) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (graph.lane(task).kind == LaneKind::host_thread) {
      sum += graph.duration_ns(task) + graph.segment_ns(task);
    }
  }
  return sum;
}

/// What the step takes as recorded and with the least host.
struct Reaction {
  StepAnswer recorded;
  StepAnswer least;

  /// Below the least reaction the time of a step says nothing of the host.
  [[nodiscard]] bool tells_host() const {
    return 1 - static_cast<double>(least.step_ns) /
                   static_cast<double>(std::max<std::int64_t>(1, recorded.step_ns)) >=
           least_reaction;
  }
};

Result<Reaction> reaction_of(const TaskGraph& graph, const HostEvents& events) {
  FORETRACE_TRY(const auto recorded, step_of(graph));
  FORETRACE_TRY(const auto least, step_of(without_events(graph, events, most_per_event_ns)));
  return Reaction{recorded, least};
}

}  // namespace

Result<std::int64_t> parse_unprofiled_step(std::string_view text) {
  if (text.empty()) return std::int64_t{0};
  const Result<double> step = parse_quantity(text, ParamType::time);
  if (step.ok() && *step >= 1 && *step < 1e17) return to_whole(*step);
  return refused(fmt::format("got {}, expected a time such as '6.09 ms'", in_quotes(text)));
}

double host_events_per_step(const Recording& recording) { return host_events(recording).per_step; }

bool step_tells_profiler(const Recording& recording) {
  const HostEvents events = host_events(recording);
  if (events.per_step == 0) return false;
  const auto reaction = reaction_of(recording.graph(), events);
  return reaction.ok() && reaction->tells_host();
}

Status take_out_profiler(std::int64_t step_ns, Recording& recording) {
  if (recording.job != nullptr) return refused("it is the step of one rank, got a job of several");
  const HostEvents events = host_events(recording);
  const double events_per_step = events.per_step;
  if (events_per_step == 0) {
    return refused(
        "no operators were recorded, so profiler overhead cannot be separated from the program's "
        "work");
  }
  const TaskGraph recorded = recording.graph();
  FORETRACE_TRY(const auto reaction, reaction_of(recorded, events));
  const std::int64_t before_ns = reaction.recorded.step_ns;
  const std::int64_t least_ns = reaction.least.step_ns;
  FORETRACE_TRY(const auto measured, answer_of(measured_steps(recording.built), StepChoice{}));
  // As simulated or as measured: in both cases the profiler cost nothing.
  const std::int64_t longest_ns = std::max(before_ns, measured.step_ns);
  if (step_ns > longest_ns) {
    return refused(
        fmt::format("expected at most the recorded {}, got {}", shown(longest_ns), shown(step_ns)));
  }
  if (!reaction.tells_host()) {
    return refused(
        fmt::format("the step is GPU-bound: {} as recorded and {} with the least CPU time, so {} "
                    "does not measure profiler overhead; leave the option out",
                    shown(before_ns), shown(least_ns), shown(step_ns)));
  }
  if (step_ns < least_ns) {
    return refused(fmt::format(
        "expected at least {}, the step if each recorded event cost {} us and each CPU segment "
        "kept {:.0f} % of its time, got {}: more than the profiler slows this recording down",
        shown(least_ns), most_per_event_ns / 1000, 100 * kept_of_host, shown(step_ns)));
  }
  std::int64_t cost = 0;  // too little; `most` is enough
  std::int64_t most = step_ns >= before_ns ? 0 : most_per_event_ns;
  while (most - cost > 1) {
    const std::int64_t middle = cost + (most - cost) / 2;
    FORETRACE_TRY(const auto step, step_of(without_events(recorded, events, middle)));
    (step.step_ns > step_ns ? cost : most) = middle;
  }
  FORETRACE_TRY(recording.built.graph, changed(recorded, without_events(recorded, events, most)));
  const std::int64_t was = host_ns(recorded);
  const std::int64_t gone = was - host_ns(recording.graph());
  recording.unprofiled =
      Unprofiled{step_ns, before_ns, most, events_per_step,
                 static_cast<double>(gone) / static_cast<double>(std::max<std::int64_t>(1, was))};
  // What answers are held against is of the same host.
  trace::Honesty& honesty = recording.built.honesty;
  honesty.host_only_ns = std::max<std::int64_t>(0, honesty.host_only_ns - gone);
  honesty.span_ns = simulate(recording.graph()).span_ns;
  return ok_status();
}

}  // namespace foretrace
