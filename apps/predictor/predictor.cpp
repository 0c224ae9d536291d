#include "apps/predictor/predictor.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/predictor/sharing.h"
#include "apps/predictor/source.h"
#include "apps/session/throughput.h"
#include "models/jobs/scenario/scenario.h"
#include "sim/core/whole.h"

namespace foretrace {
namespace {

Status check_factors(const JobPlacement& placement) {
  constexpr double most = 1e6;
  const std::pair<std::string_view, double> factors[] = {{"compute", placement.compute},
                                                         {"copies", placement.copies},
                                                         {"communication", placement.communication},
                                                         {"host", placement.host}};
  for (const auto& [name, factor] : factors) {
    if (!(factor >= 0 && factor <= most)) {
      return Error{
          ErrorCode::bad_usage,
          fmt::format("placement: {}: got {}, expected a factor from 0 to 1e6", name, factor)};
    }
  }
  return ok_status();
}

JobPlacement stretched(JobPlacement placement, double factor) {
  placement.compute *= factor;
  placement.copies *= factor;
  return placement;
}

double ratio(std::int64_t alone, std::int64_t together) {
  return together > 0 ? static_cast<double>(alone) / static_cast<double>(together) : 1;
}

Corun corun_of(const std::array<StepPrediction, 2>& own,
               const std::array<StepPrediction, 2>& step) {
  return {.first = step[0],
          .second = step[1],
          .first_share = ratio(own[0].step_ns, step[0].step_ns),
          .second_share = ratio(own[1].step_ns, step[1].step_ns)};
}

/// Each has half of the device for itself.
Result<Corun> in_halves(const std::array<std::shared_ptr<const Predictor::Source>, 2>& jobs,
                        const std::array<StepPrediction, 2>& own, const JobPlacement& placement) {
  std::array<StepPrediction, 2> step;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    FORETRACE_TRY(step[i], jobs[i]->predict_half(placement));
  }
  Corun answer = corun_of(own, step);
  answer.knows_memory = own[0].memory_bytes >= 0 && own[1].memory_bytes >= 0;
  return answer;
}

}  // namespace

double StepPrediction::speedup(std::int64_t own_step_ns) const {
  return speedup_of(own_step_ns, step_ns, samples);
}

double StepPrediction::time_ratio(std::int64_t own_step_ns) const {
  return time_ratio_of(own_step_ns, step_ns);
}

Predictor::Predictor(std::shared_ptr<const Source> job) : source_(std::move(job)) {}

Result<Predictor> Predictor::load(const std::string& path, const PredictorOptions& options) {
  const std::array<std::string, 1> paths = {path};
  return load(paths, options);
}

Result<Predictor> Predictor::load(std::span<const std::string> paths,
                                  const PredictorOptions& options) {
  FORETRACE_TRY(auto job, paths.size() == 1 && is_scenario_file(paths.front())
                              ? scenario_job(paths.front(), options)
                              : recorded_job(paths, options));
  return Predictor(std::move(job));
}

Result<StepPrediction> Predictor::predict(const JobPlacement& placement) const {
  FORETRACE_TRY(check_factors(placement));
  return source_->predict(placement);
}

Result<std::vector<double>> Predictor::throughputs(std::span<const std::string> accelerators,
                                                   std::span<const std::uint32_t> counts) const {
  std::vector<double> rates;
  for (const std::string& accelerator : accelerators) {
    for (const std::uint32_t count : counts) {
      const auto there = predict({.accelerator = accelerator, .accelerators = count});
      if (!there.ok() && there.error().code != ErrorCode::no_match) return there.error();
      rates.push_back(there.ok() && there->fits ? there->speedup(step_ns()) : 0);
    }
  }
  return rates;
}

Result<Corun> Predictor::corun(const Predictor& first, const Predictor& second, Sharing sharing,
                               const JobPlacement& placement) {
  const std::array<const Predictor*, 2> jobs = {&first, &second};
  std::array<DeviceUse, 2> alone;
  std::array<StepPrediction, 2> own;
  std::array<StepPrediction, 2> step;
  std::int64_t room = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    FORETRACE_TRY(auto use, jobs[i]->source_->use(placement));
    FORETRACE_TRY(auto by_itself, jobs[i]->predict(placement));
    FORETRACE_TRY(auto bytes, jobs[i]->source_->device_bytes(placement));
    alone[i] = use;
    own[i] = by_itself;
    room = std::max(room, bytes);
  }
  if (sharing == Sharing::mig) return in_halves({first.source_, second.source_}, own, placement);
  const auto steps = settle(sharing, alone, [&](std::size_t i, double stretch) -> Result<double> {
    FORETRACE_TRY(step[i], jobs[i]->predict(stretched(placement, stretch)));
    return 1 / ratio(own[i].step_ns, step[i].step_ns);
  });
  FORETRACE_TRY(steps);
  Corun answer = corun_of(own, step);
  const std::int64_t wanted = std::max<std::int64_t>(0, own[0].memory_bytes) +
                              std::max<std::int64_t>(0, own[1].memory_bytes);
  answer.fits = room == 0 || wanted <= room;
  answer.knows_memory = room > 0 && own[0].memory_bytes >= 0 && own[1].memory_bytes >= 0;
  return answer;
}

Result<RestartCost> Predictor::restart_cost(const CheckpointStore& store) const {
  const bool has_rates = store.write_bytes_per_s > 0 && store.read_bytes_per_s > 0;
  if (!has_rates || store.start_ns < 0) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("checkpoint store: got {} and {} bytes per second and a start of {} "
                             "ns, expected rates above 0 and a start from 0 on",
                             store.write_bytes_per_s, store.read_bytes_per_s, store.start_ns)};
  }
  FORETRACE_TRY(const auto bytes, source_->state_bytes());
  const auto size = static_cast<double>(bytes);
  return RestartCost{.state_bytes = bytes,
                     .save_ns = to_whole(size / store.write_bytes_per_s * 1e9),
                     .load_ns = store.start_ns + to_whole(size / store.read_bytes_per_s * 1e9)};
}

std::string Predictor::accelerator() const { return source_->accelerator(); }
std::vector<std::string> Predictor::doubts() const {
  std::vector<std::string> sentences;
  for (Doubt& doubt : source_->doubts()) sentences.push_back(std::move(doubt.text));
  return sentences;
}
std::size_t Predictor::tasks() const { return source_->tasks(); }
std::int64_t Predictor::step_ns() const { return source_->step_ns(); }

}  // namespace foretrace
