#include "apps/session/narrower.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "apps/session/predict.h"
#include "apps/session/range.h"

namespace foretrace {
namespace {

/// Wider than this share of the range, a measurement is not worth its name.
constexpr double least_narrow = 0.98;
constexpr double half = 0.5;
/// Four times the steps halve what their scatter does to the median.
constexpr std::size_t more_steps = 4;

double width_of(const Prediction& prediction) {
  return prediction.low_ns <= 0 ? 0
                                : std::log(static_cast<double>(prediction.high_ns) /
                                           static_cast<double>(prediction.low_ns));
}

/// What is measured: a change of the question, or of the sides of its range.
struct Candidate {
  Measurement is;
  Settled settled{};
  std::size_t what_if = 0;  ///< of the stack, whose parameter is stated
  std::string parameter{};
  bool no_doubt = false;
  bool no_profiler = false;
  double scatter = 1;  ///< factor

  [[nodiscard]] bool asks_again() const { return settled.any() || !parameter.empty(); }
};

/// What the sides of a range ask for, apart from the what-ifs.
std::vector<Candidate> of_recording(const Session& session, const Prediction& prediction) {
  std::vector<Candidate> all;
  const Recording& recording = session.recording();
  if (prediction.slower.doubt != 1) {
    const bool has_pauses = !recording.one_off.empty() && !recording.without_one_off;
    all.push_back({.is = {.name = "recording without doubts",
                          .how = has_pauses ? "cut out pauses that do not repeat (without one-off)"
                                            : "record on an idle machine, after a warm-up",
                          .effort = has_pauses ? 0 : 1},
                   .no_doubt = true});
  }
  if (prediction.faster.profiler > 0) {
    all.push_back({.is = {.name = "unprofiled step",
                          .how = "time steps without the profiler, and state that step time",
                          .effort = 1},
                   .no_profiler = true});
  }
  const std::vector<bool> whole = whole_steps(session.replay().measured);
  const auto steps = static_cast<std::size_t>(std::count(whole.begin(), whole.end(), true));
  if (prediction.slower.scatter > 0 && steps > 0) {
    all.push_back(
        {.is = {.name = "more steps",
                .how = fmt::format("record {} steps instead of {}", more_steps * steps, steps),
                .effort = 1},
         .scatter = 1 / std::sqrt(static_cast<double>(more_steps))});
  }
  return all;
}

/// What the durations and parameters of the what-ifs ask for.
std::vector<Candidate> of_what_ifs(std::span<const WhatIf> stack) {
  std::vector<Candidate> all;
  const bool is_batch = std::any_of(stack.begin(), stack.end(), [](const WhatIf& what_if) {
    return what_if.info->batch_param != nullptr;
  });
  all.push_back(
      {.is = {.name = "operator shapes", .how = "record with record_shapes=True", .effort = 1},
       .settled = {.unshaped_kernels = true}});
  all.push_back({.is = {.name = is_batch ? "another batch" : "kernel times",
                        .how = is_batch ? "record the run at one more batch size"
                                        : "time the changed kernels: kernel_table:table=FILE",
                        .effort = is_batch ? 2 : 3},
                 .settled = {.kernels = true}});
  all.push_back({.is = {.name = "collective times",
                        .how = "run nccl-tests on the cluster: curves of its file",
                        .effort = 3},
                 .settled = {.transfers = true}});
  for (std::size_t i = 0; i < stack.size(); ++i) {
    for (const ParamInfo& row : stack[i].info->params) {
      if (row.optimistic.empty() || stack[i].parameters.given(row)) continue;
      all.push_back({.is = {.name = fmt::format("{}:{}", stack[i].info->name, row.name),
                            .how = std::string(stack[i].info->calibrate),
                            .effort = 2},
                     .what_if = i,
                     .parameter = std::string(row.name)});
    }
  }
  return all;
}

void settle_sides(const Candidate& candidate, Prediction& prediction) {
  for (RangeSide* side : {&prediction.faster, &prediction.slower}) {
    if (candidate.no_doubt) side->doubt = 1;
    if (candidate.no_profiler) side->profiler = 0;
    side->scatter *= candidate.scatter;
  }
  place_ends(prediction);
}

/// Range and width once it is measured.
Result<Measurement> measured(const Session& session, std::span<const WhatIf> stack,
                             const Prediction& now, const Candidate& candidate) {
  Prediction then = now;
  if (candidate.asks_again()) {
    FORETRACE_TRY(then, predict(session.recording(), stack,
                                PredictHow{.run = session.options(),
                                           .baseline = &session.replay(),
                                           .settled = candidate.settled}));
  }
  settle_sides(candidate, then);
  Measurement result = candidate.is;
  result.low_ns = then.low_ns;
  result.high_ns = then.high_ns;
  const double width = width_of(now);
  result.width = width > 0 ? width_of(then) / width : 1;
  return result;
}

/// The stack with the default of the parameter stated, which has no range then.
Result<std::vector<WhatIf>> with_stated(std::span<const WhatIf> stack, const Candidate& candidate) {
  std::vector<WhatIf> stated(stack.begin(), stack.end());
  if (candidate.parameter.empty()) return stated;
  WhatIf& what_if = stated[candidate.what_if];
  std::vector<std::pair<std::string, std::string>> given;
  for (const auto& [name, text] : what_if.parameters.texts()) {
    const auto row = std::find_if(what_if.info->params.begin(), what_if.info->params.end(),
                                  [key = name](const ParamInfo& one) { return one.name == key; });
    const bool is_given = row != what_if.info->params.end() && what_if.parameters.given(*row);
    if (is_given || name == candidate.parameter) given.emplace_back(name, text);
  }
  FORETRACE_TRY(what_if.parameters,
                ParamValues::parse(what_if.info->name, what_if.info->params, given));
  return stated;
}

bool comes_first(const Measurement& a, const Measurement& b) {
  const bool a_halves = a.width <= half;
  const bool b_halves = b.width <= half;
  if (a_halves != b_halves) return a_halves;
  if (a_halves && a.effort != b.effort) return a.effort < b.effort;
  return a.width < b.width;
}

}  // namespace

Result<NarrowerAnswer> find_narrower(const Session& session, std::span<const WhatIf> stack,
                                     const Prediction& prediction) {
  std::vector<Candidate> candidates = of_recording(session, prediction);
  for (Candidate& candidate : of_what_ifs(stack)) candidates.push_back(std::move(candidate));
  NarrowerAnswer answer;
  Candidate all;
  std::vector<WhatIf> all_stated(stack.begin(), stack.end());
  for (const Candidate& candidate : candidates) {
    FORETRACE_TRY(const std::vector<WhatIf> stated, with_stated(stack, candidate));
    FORETRACE_TRY(Measurement found, measured(session, stated, prediction, candidate));
    if (found.width > least_narrow) continue;
    answer.rows.push_back(std::move(found));
    all.settled.transfers |= candidate.settled.transfers;
    all.settled.unshaped_kernels |= candidate.settled.unshaped_kernels;
    all.settled.kernels |= candidate.settled.kernels;
    all.no_doubt |= candidate.no_doubt;
    all.no_profiler |= candidate.no_profiler;
    all.scatter *= candidate.scatter;
    FORETRACE_TRY(all_stated, with_stated(all_stated, candidate));
    if (!candidate.parameter.empty()) all.parameter = candidate.parameter;
  }
  std::stable_sort(answer.rows.begin(), answer.rows.end(), comes_first);
  FORETRACE_TRY(answer.together, measured(session, all_stated, prediction, all));
  return answer;
}

}  // namespace foretrace
