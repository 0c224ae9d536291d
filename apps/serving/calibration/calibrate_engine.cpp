#include "apps/serving/calibration/calibrate_engine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "apps/serving/calibration/host_fit.h"
#include "apps/serving/serving.h"
#include "models/hardware/catalogue/config_files.h"
#include "models/hardware/costs/calibration/calibrate.h"
#include "sim/core/config_text.h"
#include "sim/core/mersenne.h"
#include "sim/core/whole.h"

namespace foretrace {
namespace {

constexpr std::string_view engine_schema = "foretrace.serving_engine/1";
constexpr double most_counted = 1e5;
constexpr double most_written = 1e8;  ///< tokens of a run: more would take minutes to simulate
constexpr int most_rounds = 2;

/// Who sends at a rate and lets no more than so many in at a time mostly does the latter.
bool is_closed(const BenchmarkRun& run) { return !(run.per_second > 0) || run.in_flight > 0; }

/// Of one length each, or of those that were told.
std::string rows_of(const BenchmarkRun& run) {
  scheduling::Random random(0);
  double now_s = 0;
  std::string rows;
  const auto count = static_cast<std::size_t>(run.requests);
  for (std::size_t i = 0; i < count; ++i) {
    const auto [input, output] =
        run.lengths.empty() ? std::pair(run.input, run.output) : run.lengths[i];
    rows += i == 0 ? "[" : ",[";
    if (!is_closed(run)) {
      if (i > 0) now_s += random.exponential(1 / run.per_second);
      rows += fmt::format("{},", now_s);
    }
    rows +=
        fmt::format("{},{}]", std::max(1.0, std::round(input)), std::max(1.0, std::round(output)));
  }
  return rows;
}

std::string serving_text(const EngineSetup& setup, const BenchmarkRun& run) {
  const bool is_alone = setup.cluster.empty();
  std::string text = fmt::format(
      R"({{"schema": "{}", "model": {}, "engine": {}, "{}": {}, "parallelism": {{"tensor": {}}})",
      serving_schema, json_text(text_value(setup.model)), json_text(text_value(setup.engine)),
      is_alone ? "accelerator" : "cluster",
      json_text(text_value(is_alone ? setup.accelerator : setup.cluster)),
      std::max(1U, run.tensor > 0 ? run.tensor : setup.tensor));
  if (!setup.precision.empty()) {
    text += fmt::format(R"(, "precision": {})", json_text(text_value(setup.precision)));
  }
  if (setup.weight_bits > 0) text += fmt::format(R"(, "weight_bits": {})", setup.weight_bits);
  const double in_flight = run.in_flight > 0 ? std::min(run.in_flight, run.requests) : run.requests;
  text += R"(, "requests": {"columns": [)";
  if (!is_closed(run)) text += R"("arrival_s", )";
  text += R"("input_tokens", "output_tokens"], )";
  if (is_closed(run)) text += fmt::format(R"("in_flight": {}, )", in_flight);
  return text + fmt::format(R"("rows": [{}]}}}})", rows_of(run));
}

Status check_run(const BenchmarkRun& run) {
  const auto refuse = [](const std::string& what) { return Error{ErrorCode::bad_format, what}; };
  if (!(run.requests >= 1)) {
    return refuse("it does not say how many requests were sent, expected their number beside it");
  }
  if (run.requests > most_counted) {
    return refuse(fmt::format("got {} requests, expected at most {}", run.requests, most_counted));
  }
  if (!(run.input >= 1) || !(run.output >= 1)) {
    return refuse(
        "it does not say how long prompts and answers are, expected their tokens beside it");
  }
  if (run.requests * run.output > most_written) {
    return refuse(fmt::format("got {:.3g} tokens to write, expected at most {:.0e}",
                              run.requests * run.output, most_written));
  }
  const bool writes_one = run.figure != BenchmarkFigure::total && !(run.output > 1);
  if (writes_one) return refuse("answers are one token, expected 2 or more for a time per token");
  return ok_status();
}

/// A run as it is predicted.
class PredictedService {
 public:
  PredictedService(BenchmarkRun run, Serving serving)
      : run_(std::move(run)), serving_(std::move(serving)), cost_(serving_.served) {}

  [[nodiscard]] double measured_s() const { return run_.seconds; }

  double seconds(const HostTimes& host) {
    if (run_.figure == BenchmarkFigure::step) {
      StepWork work;
      work.writers = work.drawn = run_.requests;
      work.writer_keys = run_.requests * (run_.input + run_.output / 2);
      return (cost_.of(work).total() + host.step_ns + run_.requests * host.sequence_ns) * 1e-9;
    }
    ServiceOptions options = serving_.options;
    options.host_step_ns = host.step_ns;
    options.host_sequence_ns = host.sequence_ns;
    const Service service = run_service(serving_.requests, options, cost_);
    return run_.figure == BenchmarkFigure::total ? static_cast<double>(service.end_ns) * 1e-9
                                                 : mean_token_s(service);
  }

 private:
  [[nodiscard]] double mean_token_s(const Service& service) const {
    double sum = 0;
    double count = 0;
    for (std::size_t i = 0; i < service.requests.size(); ++i) {
      const std::int64_t output = serving_.requests[i].output_tokens;
      if (service.requests[i].end_ns < 0 || output < 2) continue;
      sum += service.requests[i].token_ns(output) * 1e-9;
      ++count;
    }
    return count > 0 ? sum / count : 0;
  }

  BenchmarkRun run_;
  Serving serving_;
  StepCost cost_;
};

/// What a run would take with these host times, near them.
HostRow row_of(PredictedService& run, const HostTimes& at) {
  constexpr double step_by = 1e5;
  constexpr double sequence_by = 1e4;
  HostRow row;
  const double here = run.seconds(at);
  const double step = (run.seconds({at.step_ns + step_by, at.sequence_ns}) - here) / step_by;
  const double sequence =
      (run.seconds({at.step_ns, at.sequence_ns + sequence_by}) - here) / sequence_by;
  row.per_step = step / run.measured_s();
  row.per_sequence = sequence / run.measured_s();
  row.beside = here / run.measured_s() - row.at(at);
  return row;
}

Ranged ranged_around(double typical, const std::vector<double>& others) {
  Ranged range{typical, typical, typical};
  for (const double one : others) {
    range.low = std::min(range.low, one);
    range.high = std::max(range.high, one);
  }
  return range;
}

class EngineFit {
 public:
  EngineFit(std::vector<PredictedService> runs, HostTimes before)
      : runs_(std::move(runs)), before_(before) {}

  CalibratedEngine fit() {
    HostFit found{before_, false};
    for (int round = 0; round < most_rounds; ++round) {
      rows_.clear();
      for (PredictedService& run : runs_) rows_.push_back(row_of(run, found.times));
      found = fit_host(rows_, before_);
    }
    CalibratedEngine made;
    made.tells_sequences = found.tells_sequences;
    judge(found.times, made);
    return made;
  }

 private:
  void judge(const HostTimes& found, CalibratedEngine& made) {
    std::vector<double> steps;
    std::vector<double> sequences;
    std::vector<double> before;
    std::vector<double> held_back;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      ServiceError error;
      error.before = runs_[i].seconds(before_) / runs_[i].measured_s() - 1;
      error.fitted = runs_[i].seconds(found) / runs_[i].measured_s() - 1;
      before.push_back(error.before);
      if (rows_.size() > 1) {
        std::vector<HostRow> others = rows_;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
        const HostTimes without = fit_host(others, before_).times;
        steps.push_back(without.step_ns);
        sequences.push_back(without.sequence_ns);
        held_back.push_back(runs_[i].seconds(without) / runs_[i].measured_s() - 1);
        error.held_back = held_back.back();
      }
      made.errors.push_back(error);
    }
    made.step_ns = ranged_around(found.step_ns, steps);
    made.sequence_ns = ranged_around(found.sequence_ns, sequences);
    made.before = summarize(std::move(before));
    if (!held_back.empty()) made.held_back = summarize(std::move(held_back));
  }

  std::vector<PredictedService> runs_;
  std::vector<HostRow> rows_;
  HostTimes before_;
};

ConfigValue ranged_time(const Ranged& range) {
  ConfigValue value{.kind = ConfigValue::Kind::object, .text = {}, .keys = {}, .items = {}};
  for (const auto& [key, ns] :
       {std::pair{"typical", range.typical}, {"low", range.low}, {"high", range.high}}) {
    set_member(value, key, text_value(fmt::format("{:.6g} us", ns * 1e-3)));
  }
  return value;
}

std::string origin_of(const EngineSetup& setup, std::span<const MeasuredService> runs) {
  std::vector<std::string> sources;
  for (const MeasuredService& one : runs) {
    if (std::find(sources.begin(), sources.end(), one.source) == sources.end()) {
      sources.push_back(one.source);
    }
  }
  return fmt::format("{} on {}: {}", setup.model,
                     setup.cluster.empty() ? setup.accelerator : setup.cluster,
                     fmt::join(sources, ", "));
}

Status write_engine(ConfigValue document, const std::string& origin, CalibratedEngine& made) {
  ConfigValue sources{.kind = ConfigValue::Kind::object, .text = {}, .keys = {}, .items = {}};
  if (const ConfigValue* const has = document.find("sources")) sources = *has;
  if (const ConfigValue* const product = document.find("product")) {
    set_member(document, "product", text_value(product->text + ", as measured"));
  }
  if (!made.errors.empty()) {
    const std::string fitted = fmt::format(
        "{}; error on runs that were left out {}", origin,
        made.held_back.rows > 0 ? fmt::format("{:.1f} %", made.held_back.mean * 100) : "unknown");
    set_member(document, "host_per_step", ranged_time(made.step_ns));
    set_member(document, "host_per_sequence", ranged_time(made.sequence_ns));
    set_member(sources, "host_per_step", text_value(fitted));
    set_member(sources, "host_per_sequence", text_value(fitted));
  }
  if (made.memory_share) {
    set_member(document, "memory_share", number_value(fmt::format("{:.4g}", *made.memory_share)));
    set_member(sources, "memory_share", text_value(origin + "; the cache size that it printed"));
  }
  set_member(document, "sources", std::move(sources));
  made.text = config_file_text(document);
  FORETRACE_TRY(parse_serving_engine(made.text, "the calibrated engine"));
  return ok_status();
}

Result<double> share_told(const Serving& serving, double cache_tokens) {
  const StepCost cost(serving.served);
  const double share =
      share_of_cache(cost, serving.cluster->accelerator, serving.engine.memory_share_of,
                     serving.options.rules, cache_tokens);
  if (share > 0 && share <= 1) return share;
  return Error{ErrorCode::bad_format,
               fmt::format("got a cache of {:.0f} tokens, expected as many as {} has room for "
                           "beside the weights: another model, precision or number of ranks?",
                           cache_tokens, serving.cluster->accelerator.name)};
}

/// To size a cache by: nothing is served.
BenchmarkRun smallest_run() {
  return {.program = {}, .seconds = 1, .requests = 1, .input = 1, .output = 2};
}

}  // namespace

Result<CalibratedEngine> calibrate_engine(const Catalogue& catalogue, const EngineSetup& setup,
                                          std::span<const MeasuredService> runs,
                                          double cache_tokens) {
  if (runs.empty() && !(cache_tokens > 0)) {
    return Error{ErrorCode::bad_usage, "got no run, expected one or more"};
  }
  std::vector<PredictedService> predicted;
  for (const MeasuredService& one : runs) {
    FORETRACE_TRY(check_run(one.run).with_context(one.source));
    FORETRACE_TRY(auto serving, parse_serving(catalogue, serving_text(setup, one.run), one.source));
    predicted.emplace_back(one.run, std::move(serving));
  }
  FORETRACE_TRY(const auto base, parse_serving(catalogue, serving_text(setup, smallest_run()),
                                               "the engine that was measured"));
  CalibratedEngine made;
  if (!predicted.empty()) {
    const ServingEngine& engine = base.engine;
    made = EngineFit(std::move(predicted),
                     {engine.host_step_ns.typical, engine.host_sequence_ns.typical})
               .fit();
  }
  if (cache_tokens > 0) {
    FORETRACE_TRY(made.memory_share, share_told(base, cache_tokens));
  }
  FORETRACE_TRY(const auto path,
                config_path(catalogue.directory(), {"serving engine", "serving"}, setup.engine));
  FORETRACE_TRY(auto document, read_config(path, engine_schema));
  FORETRACE_TRY(write_engine(std::move(document), origin_of(setup, runs), made));
  return made;
}

}  // namespace foretrace
