// Rules and score: XRBench (Kwon et al., MLSys 2023) and its public code: frame i of a model with
// period P arrives at (i + 1) P and is due at (i + 2) P; a frame that has not begun when it is due
// is dropped, and so is what would have followed it.
#include "apps/extras/frames/frames.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <random>
#include <tuple>

#include <fmt/format.h>

#include "models/hardware/catalogue/config_files.h"
#include "models/hardware/catalogue/read_figures.h"
#include "sim/core/params.h"
#include "sim/core/random.h"

namespace foretrace::streams {
namespace {

constexpr std::string_view schema = "foretrace.frame_scenarios/1";
constexpr double most_frames = 1e7;
constexpr double rounding = 1e-12;  // of a few operations, relative

struct Frame {
  std::size_t model = 0;
  std::int64_t number = 0;
  double arrives_ms = 0;
  double due_ms = 0;
};

/// A frame that arrives, or an engine that is done.
struct Event {
  double at_ms = 0;
  std::uint64_t number = 0;
  std::ptrdiff_t engine = -1;  ///< below 0: an arrival
  Frame frame;
  friend bool operator>(const Event& a, const Event& b) {
    return std::tie(a.at_ms, a.number) > std::tie(b.at_ms, b.number);
  }
};

struct Sums {
  double real_time = 0;
  double energy = 0;
  double both = 0;
  std::int64_t ran = 0;
};

class FrameRun {
 public:
  FrameRun(const FrameScenario& scenario, const std::vector<FrameEngine>& engines,
           const FrameOptions& options)
      : scenario_(scenario),
        engines_(engines),
        options_(options),
        random_(options.seed),
        busy_(engines.size(), false),
        worked_ms_(engines.size(), 0),
        sums_(scenario.models.size()) {
    for (const FrameModel& model : scenario.models) result_.models.push_back({.name = model.name});
  }

  Result<ScenarioScore> run();

 private:
  [[nodiscard]] Status check() const;
  [[nodiscard]] double period_ms(const FrameModel& model) const;
  [[nodiscard]] double frames(const FrameModel& model) const;
  [[nodiscard]] const FrameCost* cost(std::size_t engine, std::size_t model) const;
  [[nodiscard]] std::ptrdiff_t engine_for(std::size_t model) const;
  void push(double at_ms, std::ptrdiff_t engine, const Frame& frame) {
    events_.push({at_ms, number_++, engine, frame});
  }
  void add_arrivals();
  void drop(const Frame& frame);
  void drop_late(double now_ms);
  void start_waiting(double now_ms);
  void finish(const Event& event);
  void score();

  const FrameScenario& scenario_;
  const std::vector<FrameEngine>& engines_;
  const FrameOptions& options_;
  std::mt19937_64 random_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t number_ = 0;
  std::vector<Frame> waiting_;  ///< in order of arrival
  std::vector<bool> busy_;
  std::vector<double> worked_ms_;
  std::vector<Sums> sums_;
  ScenarioScore result_;
};

double FrameRun::period_ms(const FrameModel& model) const {
  const double period = 1000 / model.per_second;
  return options_.whole_milliseconds ? std::max(1.0, std::floor(period)) : period;
}

// Counted from the rate where the period is not cut: 1000 ms over 1000 / 60 ms are not quite 60.
double FrameRun::frames(const FrameModel& model) const {
  const double per_second =
      options_.whole_milliseconds ? 1000 / period_ms(model) : model.per_second;
  return std::floor(options_.seconds * per_second * (1 + rounding));
}

const FrameCost* FrameRun::cost(std::size_t engine, std::size_t model) const {
  for (const FrameCost& one : engines_[engine].costs) {
    if (one.model == scenario_.models[model].name) return &one;
  }
  return nullptr;
}

Status FrameRun::check() const {
  double all = 0;
  for (const FrameModel& model : scenario_.models) {
    all += frames(model);
  }
  if (all > most_frames) {
    return Error{ErrorCode::bad_config,
                 fmt::format("{}: got {:.0f} frames, expected at most {:.0f}: fewer seconds",
                             scenario_.name, all, most_frames)};
  }
  for (std::size_t m = 0; m < scenario_.models.size(); ++m) {
    bool runs = false;
    for (std::size_t e = 0; e < engines_.size(); ++e) runs |= cost(e, m) != nullptr;
    if (runs) continue;
    return Error{ErrorCode::missing_cost,
                 fmt::format("{}: no engine has a latency of {}, expected one at least",
                             scenario_.name, scenario_.models[m].name)};
  }
  return ok_status();
}

std::ptrdiff_t FrameRun::engine_for(std::size_t model) const {
  std::ptrdiff_t best = -1;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t e = 0; e < engines_.size(); ++e) {
    const FrameCost* one = cost(e, model);
    if (busy_[e] || one == nullptr) continue;
    double value = one->latency_ms;
    if (options_.dispatch == Dispatch::energy) value = one->energy_mj;
    if (options_.dispatch == Dispatch::product) value = one->energy_mj * one->latency_ms;
    if (options_.dispatch == Dispatch::balanced) value = worked_ms_[e];
    if (value < least) {
      least = value;
      best = static_cast<std::ptrdiff_t>(e);
    }
  }
  return best;
}

void FrameRun::add_arrivals() {
  for (std::size_t m = 0; m < scenario_.models.size(); ++m) {
    const FrameModel& model = scenario_.models[m];
    if (!model.after.empty()) continue;
    const double period = period_ms(model);
    const auto count = static_cast<std::int64_t>(frames(model));
    for (std::int64_t i = 0; i < count; ++i) {
      const double usual = static_cast<double>(i + 1) * period;
      const double jitter =
          options_.jitter_ms > 0 ? (2 * unit_interval(random_()) - 1) * options_.jitter_ms : 0;
      push(std::max(0.0, usual + jitter), -1, {m, i, usual + jitter, usual + period});
    }
  }
}

// What follows a dropped frame counts as dropped, too.
void FrameRun::drop(const Frame& frame) {
  ++result_.models[frame.model].frames;
  ++result_.models[frame.model].dropped;
  for (std::size_t m = 0; m < scenario_.models.size(); ++m) {
    const FrameModel& model = scenario_.models[m];
    if (model.after != scenario_.models[frame.model].name) continue;
    if (unit_interval(random_()) < model.probability) drop({m, frame.number, 0, 0});
  }
}

void FrameRun::drop_late(double now_ms) {
  std::vector<Frame> left;
  for (const Frame& frame : waiting_) {
    if (frame.due_ms <= now_ms) {
      drop(frame);
    } else {
      left.push_back(frame);
    }
  }
  waiting_ = std::move(left);
}

void FrameRun::start_waiting(double now_ms) {
  std::vector<Frame> left;
  for (const Frame& frame : waiting_) {
    const std::ptrdiff_t engine = engine_for(frame.model);
    if (engine < 0) {
      left.push_back(frame);
      continue;
    }
    const auto e = static_cast<std::size_t>(engine);
    busy_[e] = true;
    const double took = cost(e, frame.model)->latency_ms;
    worked_ms_[e] += took;
    push(now_ms + took, engine, frame);
  }
  waiting_ = std::move(left);
}

void FrameRun::finish(const Event& event) {
  const auto e = static_cast<std::size_t>(event.engine);
  busy_[e] = false;
  const Frame& frame = event.frame;
  ModelScore& model = result_.models[frame.model];
  Sums& sums = sums_[frame.model];
  const double late = event.at_ms - frame.due_ms;
  const double real_time = real_time_score(late, options_.sharpness);
  const double spent = cost(e, frame.model)->energy_mj;
  const double energy = std::max(0.0, 1 - spent / options_.most_energy_mj);
  ++model.frames;
  model.late += late > 0 ? 1 : 0;
  sums.real_time += real_time;
  sums.energy += energy;
  sums.both += real_time * energy;
  ++sums.ran;
  for (std::size_t m = 0; m < scenario_.models.size(); ++m) {
    const FrameModel& next = scenario_.models[m];
    if (next.after != model.name || !(unit_interval(random_()) < next.probability)) continue;
    // It is due when a frame of its own period is that arrived with the one before it.
    const double due = static_cast<double>(frame.number + 2) * period_ms(next);
    waiting_.push_back({m, frame.number, event.at_ms, due});
  }
}

void FrameRun::score() {
  double sum = 0;
  for (std::size_t m = 0; m < result_.models.size(); ++m) {
    ModelScore& model = result_.models[m];
    const auto ran = static_cast<double>(std::max<std::int64_t>(1, sums_[m].ran));
    const auto frames = static_cast<double>(std::max<std::int64_t>(1, model.frames));
    model.real_time = sums_[m].real_time / ran;
    model.energy = sums_[m].energy / ran;
    model.experience = 1 - static_cast<double>(model.dropped) / frames;
    model.score = sums_[m].both / ran * model.experience;
    // A model that was never asked for takes nothing away.
    if (model.frames == 0) model.score = 1;
    sum += model.score;
  }
  result_.score = 100 * sum / static_cast<double>(std::max<std::size_t>(1, result_.models.size()));
}

Result<ScenarioScore> FrameRun::run() {
  FORETRACE_TRY(check());
  result_.name = scenario_.name;
  add_arrivals();
  double now_ms = 0;
  while (!events_.empty()) {
    const Event event = events_.top();
    events_.pop();
    now_ms = event.at_ms;
    if (event.engine < 0) {
      waiting_.push_back(event.frame);
    } else {
      finish(event);
    }
    // All that happens at this time, then who begins.
    if (!events_.empty() && events_.top().at_ms == now_ms) continue;
    drop_late(now_ms);
    start_waiting(now_ms);
  }
  drop_late(std::numeric_limits<double>::infinity());
  double worked = 0;
  for (const double ms : worked_ms_) worked += ms;
  const double span = now_ms * static_cast<double>(engines_.size());
  result_.busy = span > 0 ? worked / span : 0;
  score();
  return std::move(result_);
}

FrameModel read_model(const ConfigValue& value, ConfigFields& outer, const std::string& pointer) {
  ConfigFields fields(value, outer.file(), pointer);
  FrameModel model;
  fields.text("model", model.name);
  model.per_second = read_positive(fields, "per_second", ParamType::number, 1e6);
  fields.optional_text("after", model.after);
  model.probability = optional_within(fields, "probability", ParamType::number, 1, 1);
  outer.take(fields.finish());
  return model;
}

Result<std::vector<FrameScenario>> scenarios_from(const ConfigValue& root,
                                                  const std::string& where) {
  std::vector<FrameScenario> scenarios;
  ConfigFields fields(root, where);
  std::string source;
  fields.text("source", source);
  const ConfigValue* list = fields.objects("scenarios");
  for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
    ConfigFields one(list->items[i], where, fmt::format("/scenarios/{}", i));
    FrameScenario scenario;
    one.text("name", scenario.name);
    const ConfigValue* models = one.objects("models");
    for (std::size_t m = 0; models != nullptr && m < models->items.size(); ++m) {
      scenario.models.push_back(
          read_model(models->items[m], one, fmt::format("/scenarios/{}/models/{}", i, m)));
    }
    for (const FrameModel& model : scenario.models) {
      const bool known =
          model.after.empty() ||
          std::any_of(scenario.models.begin(), scenario.models.end(), [&](const FrameModel& other) {
            return other.name == model.after && other.after.empty();
          });
      if (!known) {
        one.mistake("models", fmt::format("{} is after {}, expected a model of this scenario that "
                                          "runs by the clock",
                                          in_quotes(model.name), in_quotes(model.after)));
      }
    }
    fields.take(one.finish());
    scenarios.push_back(std::move(scenario));
  }
  FORETRACE_TRY(fields.finish());
  return scenarios;
}

}  // namespace

double real_time_score(double late_ms, double sharpness) {
  return 1 / (1 + std::exp(std::clamp(sharpness * late_ms, -700.0, 700.0)));
}

Result<ScenarioScore> run_frames(const FrameScenario& scenario,
                                 const std::vector<FrameEngine>& engines,
                                 const FrameOptions& options) {
  return FrameRun(scenario, engines, options).run();
}

Result<std::vector<FrameScenario>> parse_frame_scenarios(std::string_view text,
                                                         const std::string& where) {
  FORETRACE_TRY(auto root, parse_config_document(text, where, schema));
  return scenarios_from(root, where);
}

Result<std::vector<FrameScenario>> find_frame_scenarios(const Catalogue& catalogue,
                                                        std::string_view name) {
  FORETRACE_TRY(auto path,
                config_path(catalogue.directory(), {"stream scenarios", "streams"}, name));
  FORETRACE_TRY(auto root, read_config(path, schema));
  return scenarios_from(root, path);
}

}  // namespace foretrace::streams
