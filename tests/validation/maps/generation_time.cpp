#include "tests/validation/maps/generation_time.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "models/jobs/figures/device_memory.h"
#include "models/jobs/program/estimate.h"
#include "models/jobs/program/ranged_step.h"

namespace foretrace {
namespace {

RangedSeconds& operator+=(RangedSeconds& sum, const RangedSeconds& one) {
  sum.typical += one.typical;
  sum.low += one.low;
  sum.high += one.high;
  return sum;
}

RangedSeconds times(const RangedSeconds& one, double factor) {
  return {one.typical * factor, one.low * factor, one.high * factor};
}

/// The scenario with this batch in one pass.
Result<Scenario> pass_of(const Scenario& scenario, Pass pass, double sequences, double positions) {
  Scenario one = scenario;
  one.job.pass = pass;
  one.job.length = positions;
  one.job.keys = positions;
  one.job.global_batch = sequences * one.job.plan.data;
  one.job.micro_batch = sequences;
  return complete_scenario(std::move(one));
}

Result<RangedSeconds> time_pass(const Scenario& scenario, Pass pass, double sequences,
                                double positions) {
  FORETRACE_TRY(const auto one, pass_of(scenario, pass, sequences, positions));
  FORETRACE_TRY(const auto step, ranged_step(one.job));
  constexpr double seconds = 1e-9;
  return RangedSeconds{static_cast<double>(step.step_ns) * seconds,
                       static_cast<double>(step.low_ns) * seconds,
                       static_cast<double>(step.high_ns) * seconds};
}

/// With what the engine's host does between two steps, while the device waits.
RangedSeconds with_host(RangedSeconds step, const Scenario& scenario, double sequences) {
  const double host = scenario.framework->step_host.of(sequences, scenario.job.plan.tensor) * 1e-9;
  step += {host, host, host};
  return step;
}

/// Mean of a decoding step while the keys grow from `first` to `last`: attention reads as many as
/// there are, so the time is nearly linear in them (Simpson's rule).
Result<RangedSeconds> mean_token(const Scenario& scenario, double sequences, double first,
                                 double last) {
  struct Node {
    double at;
    double weight;
  };
  const std::array nodes = {Node{first, 1. / 6}, Node{(first + last) / 2, 4. / 6},
                            Node{last, 1. / 6}};
  RangedSeconds mean;
  for (const Node& node : nodes) {
    FORETRACE_TRY(const auto step,
                  time_pass(scenario, Pass::decode, sequences, std::round(node.at)));
    mean += times(step, node.weight);
  }
  return mean;
}

/// Sequences whose keys and values fit beside the weights on the fullest stage.
Result<double> sequences_held(const Scenario& scenario, const GenerationRequest& request) {
  FORETRACE_TRY(const auto whole,
                pass_of(scenario, Pass::decode, 1, request.prompt + request.output));
  FORETRACE_TRY(const auto answer, estimate(whole.job));
  double held = request.sequences;
  for (const StageMemory& stage : answer.memory) {
    const StageMemory weights{.weights = stage.weights};
    for (const DeviceMemory& memory : device_memories(whole.job, weights)) {
      if (memory.has == 0 || memory.need < memory.has) continue;
      return Error{ErrorCode::no_match,
                   fmt::format("the weights need {:.1f} GiB, expected at most {:.1f} GiB",
                               memory.need / (1 << 30), memory.has / (1 << 30))};
    }
    const DeviceMemory memory = device_memories(whole.job, weights).front();
    if (memory.has == 0) continue;
    const double left = memory.has - memory.need;
    held = std::min(held, std::floor(left * request.cache_share / stage.activations));
  }
  if (held >= 1) return held;
  return Error{ErrorCode::no_match, "not one sequence fits into memory"};
}

struct Wave {
  RangedSeconds prompt;
  RangedSeconds token;
};

Result<Wave> time_wave(const Scenario& scenario, const GenerationRequest& request,
                       double sequences) {
  FORETRACE_TRY(auto prompt, time_pass(scenario, Pass::prefill, sequences, request.prompt));
  // Reading the prompts gives the first token.
  FORETRACE_TRY(auto token, mean_token(scenario, sequences, request.prompt + 1,
                                       request.prompt + request.output - 1));
  return Wave{with_host(prompt, scenario, sequences), with_host(token, scenario, sequences)};
}

}  // namespace

Result<GenerationTime> time_generation(const Scenario& scenario, const GenerationRequest& request) {
  FORETRACE_TRY(const auto held, sequences_held(scenario, request));
  FORETRACE_TRY(const auto first, time_wave(scenario, request, held));
  GenerationTime result;
  result.prompt = first.prompt;
  result.token = first.token;
  result.sequences_held = held;
  const double full = std::floor(request.sequences / held);
  const double rest = request.sequences - full * held;
  const auto add = [&](const Wave& wave, double count) {
    result.total += times(wave.prompt, count);
    result.total += times(wave.token, count * std::max(0.0, request.output - 1));
  };
  add(first, full);
  if (rest > 0) {
    FORETRACE_TRY(const auto last, time_wave(scenario, request, rest));
    add(last, 1);
  }
  result.waves = static_cast<std::uint32_t>(full + (rest > 0 ? 1 : 0));
  return result;
}

}  // namespace foretrace
