#include "apps/session/spread.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "apps/session/changed_job.h"
#include "apps/session/recording/modelled.h"
#include "apps/session/session.h"

namespace foretrace {
namespace {

bool spreads(const WhatIf& what_if) { return what_if.info->name == "parallel"; }

/// Says how the work of a rank is divided into passes, which devices that are fewer do their way.
bool divides_work(const WhatIf& what_if) {
  return what_if.info->name == "batch_size" || what_if.info->name == "gradient_accumulation";
}

/// 0: the groups are those of the trace.
std::int64_t devices_asked_for(const WhatIf& parallel) {
  std::int64_t devices = 1;
  for (const auto& [key, value] : parallel.parameters.texts()) {
    if (key == "recorded" && value == "true") return 0;
    if (key == "data" || key == "tensor" || key == "pipeline")
      devices *= std::strtoll(value.c_str(), nullptr, 10);
  }
  return devices;
}

/// Ways of data parallelism that a stack asks for.
double copies_in(const std::vector<WhatIf>& stack) {
  const auto parallel = std::find_if(stack.begin(), stack.end(), spreads);
  if (parallel == stack.end()) return 1;
  for (const auto& [key, value] : parallel->parameters.texts()) {
    if (key == "data") return std::max(1.0, std::strtod(value.c_str(), nullptr));
  }
  return 1;
}

std::int64_t devices_of(const Answer& answer) {
  const std::vector<WhatIf>& stack = answer.stack();
  const auto parallel = std::find_if(stack.begin(), stack.end(), spreads);
  if (parallel == stack.end()) return 0;
  const std::int64_t asked = devices_asked_for(*parallel);
  if (asked == 0 || answer.session().recording().modelled == nullptr) return asked;
  // What is not asked for stays as the job has it.
  const auto changed = changed_job(answer.session().recording(), stack);
  return changed.ok() && *changed ? (*changed)->recording.modelled->scenario->job.ranks() : asked;
}

}  // namespace

std::uint32_t devices_of(const Session& session) {
  const Recording& recording = session.recording();
  if (recording.modelled != nullptr) return recording.modelled->scenario->job.ranks();
  std::size_t devices = recording.job == nullptr ? 1 : recording.job->paths.size();
  for (const Communicator& group : session.graph().context().communicators) {
    devices = std::max<std::size_t>(devices, group.size);
  }
  return static_cast<std::uint32_t>(devices);
}

WorkTimes work_times(const Session& session, std::span<const WhatIf> stack) {
  WorkTimes times{session.step_ns(), session.step_ns()};
  const auto step = session.ask(stack);
  if (step.ok()) times = {step->step_ns(), step->step_ns(), step->samples()};
  // Where passes cannot be repeated, the step is.
  const auto twice = check_what_if({"gradient_accumulation", {{"steps", "2"}}});
  if (!step.ok() || !twice.ok()) return times;
  std::vector<WhatIf> repeated(stack.begin(), stack.end());
  repeated.push_back(*twice);
  if (const auto two = session.ask(repeated); two.ok()) {
    times.more_ns = std::min(times.step_ns, two->step_ns() - times.step_ns);
  }
  return times;
}

double spread_efficiency(const WorkTimes& now, std::uint32_t recorded_devices, const Answer& spread,
                         std::int64_t devices) {
  const double all =
      std::max(1.0, static_cast<double>(spread.step_ns())) * static_cast<double>(devices);
  // Each copy has a share of the samples, which the recorded devices do in one step.
  const double copies = std::max(1.0, copies_in(spread.stack()) / recorded_devices);
  const double share = spread.samples() / copies;
  double alone = share >= now.samples * (1 - 1e-9) ? copies * now.time_of(share)
                                                   : now.time_of(spread.samples());
  // Fewer devices do a part of these passes: not what the recorded ones would take for so few.
  if (devices < recorded_devices) {
    alone = static_cast<double>(now.step_ns) * spread.samples() / now.samples;
  }
  return alone * recorded_devices / all;
}

std::optional<double> samples_per_s_of_all(const Answer& spread) {
  const std::optional<Throughput>& rate = spread.throughput();
  if (!rate || !rate->predicted) return std::nullopt;
  const Session& session = spread.session();
  return session.recording().modelled == nullptr ? *rate->predicted * devices_of(session)
                                                 : *rate->predicted;
}

std::optional<RunSpread> spread_of(const Answer& answer) {
  const std::int64_t devices = devices_of(answer);
  if (devices <= 1) return std::nullopt;
  std::vector<WhatIf> others;
  std::copy_if(answer.stack().begin(), answer.stack().end(), std::back_inserter(others),
               [](const WhatIf& what_if) { return !spreads(what_if) && !divides_work(what_if); });
  const std::uint32_t recorded = devices_of(answer.session());
  const WorkTimes now = work_times(answer.session(), others);
  return RunSpread{devices, recorded, spread_efficiency(now, recorded, answer, devices),
                   samples_per_s_of_all(answer)};
}

}  // namespace foretrace
