#include "apps/plans/time_to_train.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "models/hardware/catalogue/config_files.h"
#include "models/hardware/catalogue/read_figures.h"
#include "models/jobs/figures/device_memory.h"
#include "models/jobs/program/estimate.h"
#include "models/jobs/program/ranged_step.h"
#include "sim/core/config.h"
#include "sim/core/params.h"
#include "sim/core/whole.h"

namespace foretrace {
namespace {

constexpr double most_samples = 1e15;
constexpr double most_batch = 1e9;
constexpr double most_wait_ns = 1e18;

class TrainingReader {
 public:
  TrainingReader(const CataloguePtr& catalogue, const ConfigValue& root, const std::string& where)
      : catalogue_(catalogue), fields_(root, where), where_(where) {}
  Result<TrainingRun> read();

 private:
  Status read_run(TrainingRun& run);
  void read_target(TrainingRun& run);
  void read_evaluation(TrainingRun& run);
  [[nodiscard]] std::string file_of(std::string_view key);

  const CataloguePtr& catalogue_;
  ConfigFields fields_;
  std::string where_;
};

std::string TrainingReader::file_of(std::string_view key) {
  std::string name;
  fields_.text(key, name);
  return file_named_in(where_, name);
}

Status TrainingReader::read_run(TrainingRun& run) {
  if (fields_.has("scenario") == fields_.has("trace")) {
    return Error{ErrorCode::bad_config,
                 fmt::format("{}: expected either scenario or trace", where_)};
  }
  if (fields_.has("scenario")) {
    run.of = file_of("scenario");
    if (run.of.empty()) return ok_status();
    FORETRACE_TRY(auto scenario, read_scenario_of_alike_ranks(*catalogue_, run.of));
    if (!scenario.job.trains()) {
      return Error{ErrorCode::bad_config,
                   fmt::format("{}: /scenario: got a job that does not train, expected one of the "
                               "pass training",
                               where_)};
    }
    run.run = std::move(scenario);
    return ok_status();
  }
  run.of = file_of("trace");
  JobPlacement placement;
  fields_.optional_text("accelerator", placement.accelerator);
  fields_.optional_text("cluster", placement.cluster);
  placement.accelerators = optional_count(fields_, "accelerators", 1e6, 1);
  if (!fields_.has("accelerators")) placement.accelerators = 0;
  const double batch = read_count(fields_, "batch", most_batch);
  if (run.of.empty()) return ok_status();
  FORETRACE_TRY(auto predictor, Predictor::load(run.of, {.catalogue = catalogue_}));
  run.run = RecordedRun{std::move(predictor), std::move(placement), batch};
  return ok_status();
}

// {"samples_per_epoch": 117266, "at": [{"batch": 912, "epochs": 50, "low": 48, "high": 53}]}, or
// "samples" instead of "epochs".
void TrainingReader::read_target(TrainingRun& run) {
  const ConfigValue* object = fields_.object("target");
  if (object == nullptr) return;
  ConfigFields target(*object, where_, "/target");
  run.samples_per_epoch =
      optional_within(target, "samples_per_epoch", ParamType::number, most_samples, 0);
  const ConfigValue* list = target.objects("at");
  for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
    ConfigFields row(list->items[i], where_, fmt::format("/target/at/{}", i));
    TargetAtBatch at;
    at.batch = read_count(row, "batch", most_batch);
    const bool epochs = row.has("epochs");
    if (epochs == row.has("samples")) row.mistake("", "expected either epochs or samples");
    if (epochs && !(run.samples_per_epoch > 0)) {
      row.mistake("epochs", "expected samples_per_epoch beside the list");
    }
    const double unit = epochs ? run.samples_per_epoch : 1;
    const char* const key = epochs ? "epochs" : "samples";
    at.samples.typical = unit * read_positive(row, key, ParamType::number, most_samples);
    at.samples.low = unit * optional_within(row, "low", ParamType::number, most_samples,
                                            at.samples.typical / std::max(unit, 1e-9));
    at.samples.high = unit * optional_within(row, "high", ParamType::number, most_samples,
                                             at.samples.typical / std::max(unit, 1e-9));
    if (std::max(at.samples.typical, at.samples.high) > most_samples) {
      row.mistake(key, fmt::format("got {:g} samples, expected at most {:g}",
                                   std::max(at.samples.typical, at.samples.high), most_samples));
    }
    if (at.samples.low > at.samples.typical || at.samples.high < at.samples.typical) {
      row.mistake("", fmt::format("expected low <= {} <= high", key));
    }
    if (!run.target.empty() && run.target.back().batch >= at.batch) {
      row.mistake("batch", fmt::format("got {}, expected more than the one before", at.batch));
    }
    target.take(row.finish());
    run.target.push_back(at);
  }
  if (list != nullptr && run.target.empty())
    target.mistake("at", "got none, expected at least one");
  fields_.take(target.finish());
}

// {"every_epochs": 4, "samples": 50000} or "every_samples", and "time" instead of "samples".
void TrainingReader::read_evaluation(TrainingRun& run) {
  const ConfigValue* object = fields_.optional_object("evaluation");
  if (object == nullptr) return;
  ConfigFields inner(*object, where_, "/evaluation");
  if (inner.has("every_epochs") == inner.has("every_samples")) {
    inner.mistake("", "expected either every_epochs or every_samples");
  }
  if (inner.has("every_epochs")) {
    if (!(run.samples_per_epoch > 0)) {
      inner.mistake("every_epochs", "expected samples_per_epoch in /target");
    }
    run.evaluation_every_samples =
        run.samples_per_epoch * read_positive(inner, "every_epochs", ParamType::number, 1e9);
  } else {
    run.evaluation_every_samples =
        read_positive(inner, "every_samples", ParamType::number, most_samples);
  }
  if (run.evaluation_every_samples < 1) {
    inner.mistake("",
                  fmt::format("got an evaluation every {:g} samples, expected at least 1 between "
                              "them",
                              run.evaluation_every_samples));
  }
  if (inner.has("time") == inner.has("samples"))
    inner.mistake("", "expected either time or samples");
  if (inner.has("samples")) {
    run.evaluation_samples = read_positive(inner, "samples", ParamType::number, most_samples);
    if (fields_.has("trace")) {
      inner.mistake("samples", "got a recorded run, whose evaluation is unknown, expected time");
    }
    const auto* const scenario = std::get_if<Scenario>(&run.run);
    if (scenario != nullptr && scenario->job.has_own_ranks()) {
      inner.mistake("samples",
                    "got a scenario whose stages have their own ranks, whose forward time is "
                    "unknown, expected time");
    }
  } else {
    run.evaluation_ns = read_within(inner, "time", ParamType::time, most_wait_ns);
  }
  fields_.take(inner.finish());
}

Result<TrainingRun> TrainingReader::read() {
  TrainingRun run;
  run.path = where_;
  FORETRACE_TRY(read_run(run));
  if (fields_.has("batches")) fields_.numbers("batches", run.batches);
  for (const double batch : run.batches) {
    if (!(batch >= 1) || batch > most_batch || batch != std::floor(batch)) {
      fields_.mistake("batches", fmt::format("got {}, expected whole numbers from 1 on", batch));
    }
  }
  if (!run.batches.empty() && fields_.has("trace")) {
    fields_.mistake("batches",
                    "got a recorded run, whose batch is the recorded one, expected none");
  }
  read_target(run);
  read_evaluation(run);
  run.start_ns = optional_within(fields_, "start", ParamType::time, most_wait_ns, 0);
  FORETRACE_TRY(fields_.finish());
  return run;
}

RangedAmount ranged(const RangedStep& step) {
  return {static_cast<double>(step.step_ns), static_cast<double>(step.low_ns),
          static_cast<double>(step.high_ns)};
}

struct FittedStep {
  RangedAmount ns;
  bool fits = true;
};

Result<FittedStep> step_of(Scenario scenario) {
  FORETRACE_TRY(auto complete, complete_scenario(std::move(scenario)));
  const Job& job = complete.job;
  FORETRACE_TRY(const auto program, build_program(job));
  FORETRACE_TRY(const auto range, ranged_step(job, program));
  FORETRACE_TRY(const auto step, estimate(job, program));
  return FittedStep{ranged(range), fits_device(job, step.memory)};
}

/// One evaluation: forward passes of its samples, in the batches of training.
Result<RangedAmount> evaluation_of(const TrainingRun& run, Scenario scenario) {
  RangedAmount time{run.evaluation_ns, run.evaluation_ns, run.evaluation_ns};
  if (!(run.evaluation_samples > 0)) return time;
  Job& job = scenario.job;
  job.pass = Pass::prefill;
  job.recompute = Recompute::none;
  const double passes = std::ceil(run.evaluation_samples / job.global_batch);
  auto step = step_of(std::move(scenario));
  if (!step.ok()) return std::move(step).error().with_context(run.path + ": /evaluation");
  time = step->ns;
  for (double* const ns : {&time.typical, &time.low, &time.high}) *ns *= passes;
  return time;
}

Result<TrainingTime> time_of_scenario(const TrainingRun& run, const Scenario& scenario,
                                      double batch) {
  FORETRACE_TRY(const auto target, target_at(run, batch));
  Scenario one = scenario;
  one.job.global_batch = batch;
  const auto step = step_of(one);
  if (!step.ok()) {
    return Error(step.error()).with_context(fmt::format("{}: batch {:.0f}", run.path, batch));
  }
  FORETRACE_TRY(const auto evaluation, evaluation_of(run, std::move(one)));
  TrainingTime time = composed(run, target, step->ns, evaluation);
  time.fits = step->fits;
  return time;
}

Result<TrainingTime> time_of_recording(const TrainingRun& run, const RecordedRun& recorded) {
  FORETRACE_TRY(const auto step,
                recorded.predictor.predict(recorded.placement).with_context(run.path));
  FORETRACE_TRY(const auto target, target_at(run, recorded.batch * step.samples));
  const RangedAmount evaluation{run.evaluation_ns, run.evaluation_ns, run.evaluation_ns};
  const auto ns = static_cast<double>(step.step_ns);
  const bool has_range = step.low_ns > 0 && step.high_ns > 0;
  TrainingTime time = composed(run, target,
                               {ns, has_range ? static_cast<double>(step.low_ns) : ns,
                                has_range ? static_cast<double>(step.high_ns) : ns},
                               evaluation);
  time.fits = step.fits;
  return time;
}

/// Which entry of /target/at has the samples of a batch, the larger of two that it lies between.
std::size_t entry_of(const TrainingRun& run, double batch) {
  std::size_t at = 0;
  while (run.target[at].batch < batch) ++at;
  const bool is_between = run.target[at].batch > batch && at > 0;
  return is_between && run.target[at - 1].samples.high > run.target[at].samples.high ? at - 1 : at;
}

/// Samples, steps and what each takes are bounded by the file, what they come to is not.
Status check_length(const TrainingRun& run, const TrainingTime& time) {
  const double longest = std::max(time.total_ns.typical, time.total_ns.high);
  if (longest < static_cast<double>(most_whole)) return ok_status();
  return Error{ErrorCode::bad_config,
               fmt::format("{}: /target/at/{}/samples: got {:g} samples, which take {} at a batch "
                           "of {:.0f}, expected a run of at most {}",
                           run.path, entry_of(run, time.batch), time.samples.high,
                           quantity_text(longest, ParamType::time), time.batch,
                           quantity_text(static_cast<double>(most_whole), ParamType::time))};
}

}  // namespace

bool is_training_file(const std::string& path) { return names_schema(path, "foretrace.training/"); }

Result<TrainingRun> parse_training(const CataloguePtr& catalogue, std::string_view text,
                                   const std::string& where) {
  FORETRACE_TRY(auto root, parse_config_document(text, where, training_schema));
  return TrainingReader(catalogue, root, where).read();
}

Result<TrainingRun> read_training(const CataloguePtr& catalogue, const std::string& path) {
  FORETRACE_TRY(const std::string text, read_config_text(path));
  return parse_training(catalogue, text, path);
}

Result<TargetAtBatch> target_at(const TrainingRun& run, double batch) {
  const auto next = std::find_if(run.target.begin(), run.target.end(),
                                 [batch](const TargetAtBatch& at) { return at.batch >= batch; });
  if (next == run.target.end() || (next->batch > batch && next == run.target.begin())) {
    return Error{
        ErrorCode::no_match,
        fmt::format("{}: /target/at: has no entry for a batch of {:.0f}, expected {:.0f} to {:.0f}",
                    run.path, batch, run.target.front().batch, run.target.back().batch)};
  }
  if (next->batch == batch) return *next;
  const TargetAtBatch& below = *(next - 1);
  const double share = std::log(batch / below.batch) / std::log(next->batch / below.batch);
  const auto between = [share](double a, double b) { return a + share * (b - a); };
  return TargetAtBatch{batch,
                       {between(below.samples.typical, next->samples.typical),
                        between(below.samples.low, next->samples.low),
                        between(below.samples.high, next->samples.high)}};
}

TrainingTime composed(const TrainingRun& run, const TargetAtBatch& target,
                      const RangedAmount& step_ns, const RangedAmount& evaluation_ns) {
  TrainingTime time;
  time.batch = target.batch;
  time.is_between = std::none_of(run.target.begin(), run.target.end(),
                                 [&](const auto& at) { return at.batch == target.batch; });
  time.samples = target.samples;
  time.step_ns = step_ns;
  time.evaluation_ns = evaluation_ns;
  const auto at = [&](double RangedAmount::*end) {
    const double samples = target.samples.*end;
    // A last step that is not full, and an evaluation that ends the run.
    time.steps.*end = std::ceil(samples / target.batch);
    time.evaluations.*end =
        run.evaluation_every_samples > 0 ? std::ceil(samples / run.evaluation_every_samples) : 0;
    time.total_ns.*end = run.start_ns + time.steps.*end * (step_ns.*end) +
                         time.evaluations.*end * (evaluation_ns.*end);
  };
  at(&RangedAmount::typical);
  at(&RangedAmount::low);
  at(&RangedAmount::high);
  return time;
}

Result<std::vector<TrainingTime>> training_times(const TrainingRun& run) {
  std::vector<TrainingTime> times;
  const auto* const scenario = std::get_if<Scenario>(&run.run);
  if (scenario == nullptr) {
    FORETRACE_TRY(auto time, time_of_recording(run, std::get<RecordedRun>(run.run)));
    FORETRACE_TRY(check_length(run, time));
    times.push_back(time);
    return times;
  }
  std::vector<double> batches = run.batches;
  if (batches.empty()) batches.push_back(scenario->job.global_batch);
  for (const double batch : batches) {
    FORETRACE_TRY(auto time, time_of_scenario(run, *scenario, batch));
    FORETRACE_TRY(check_length(run, time));
    times.push_back(time);
  }
  return times;
}

}  // namespace foretrace
