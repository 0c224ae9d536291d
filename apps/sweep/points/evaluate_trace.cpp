// Points that are a recording under what-ifs.
#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "apps/session/answer_laws.h"
#include "apps/session/session.h"
#include "apps/session/what_if_stack.h"
#include "apps/sweep/points/evaluate.h"
#include "apps/sweep/points/trace_question.h"
#include "models/whatifs/what_if_spec.h"
#include "trace/inputs/list_files.h"

namespace foretrace::sweeping {
namespace {

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

/// The stack of the last point, what-if by what-if: the next point begins where they part.
class StackPath {
 public:
  Result<const WhatIfStack*> reach(const Session& source, const TraceQuestion& question) {
    if (source_ != &source) {
      source_ = &source;
      keys_.clear();
      stacks_.clear();
      stacks_.emplace_back(source.recording(), question.options.checks);
    }
    std::size_t shared = 0;
    while (shared < std::min(keys_.size(), question.keys.size()) &&
           keys_[shared] == question.keys[shared]) {
      ++shared;
    }
    keys_.resize(shared);
    stacks_.erase(stacks_.begin() + static_cast<std::ptrdiff_t>(shared) + 1, stacks_.end());
    for (std::size_t depth = shared; depth < question.keys.size(); ++depth) {
      WhatIfStack next = stacks_.back();
      FORETRACE_TRY(next.push(question.stack[depth], Neutral::keep));
      stacks_.push_back(std::move(next));
      keys_.push_back(question.keys[depth]);
    }
    return &stacks_.back();
  }

 private:
  const Session* source_ = nullptr;
  std::vector<std::string> keys_;
  std::vector<WhatIfStack> stacks_;
};

/// Traces, engine and step that a replay is of.
using SourceKey = std::tuple<std::vector<std::string>, Engine, StepChoice::Kind, std::int64_t>;
SourceKey key_of(const TraceQuestion& question) {
  const RunOptions& options = question.options;
  return {question.traces, options.engine, options.step.kind, options.step.number};
}
/// The points that ask for the same step of a recording ask one session.
using Sources = std::map<SourceKey, Session>;

class TraceEvaluator final : public PointEvaluator {
 public:
  TraceEvaluator(const Sweep& sweep, const Catalogue& catalogue, const Sources& sources)
      : sweep_(sweep), catalogue_(catalogue), sources_(sources) {
    const auto wants = [&](std::string_view name) {
      return std::any_of(sweep.metrics.begin(), sweep.metrics.end(),
                         [&](const MetricInfo& metric) { return metric.name == name; });
    };
    wants_range_ = wants("low_ns") || wants("high_ns");
    wants_memory_ = wants("memory_bytes") || wants("live_bytes") || wants("fits");
  }

  void evaluate(std::span<PointResult> points) override {
    std::vector<Result<TraceQuestion>> questions;
    questions.reserve(points.size());
    for (const PointResult& point : points) questions.push_back(question_at(point.where));
    // Points that begin alike follow each other.
    std::vector<std::size_t> order(points.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      if (!questions[a].ok() || !questions[b].ok()) return questions[a].ok() && !questions[b].ok();
      const SourceKey of_a = key_of(*questions[a]);
      const SourceKey of_b = key_of(*questions[b]);
      return of_a != of_b ? of_a < of_b : questions[a]->keys < questions[b]->keys;
    });
    for (const std::size_t i : order) {
      const Status done =
          questions[i].ok() ? answer(*questions[i], points[i]) : Status(questions[i].error());
      if (done.ok()) continue;
      points[i].metrics.clear();
      points[i].reason = done.error().message;
    }
  }

 private:
  Result<TraceQuestion> question_at(std::span<const double> where) {
    FORETRACE_TRY(auto question, read_question(sweep_.document_at(where), sweep_.folder));
    const auto source = sources_.find(key_of(question));
    if (source == sources_.end()) return question;  // answer() says so
    FORETRACE_TRY(complete_stack(source->second.recording(), catalogue_, question));
    return question;
  }

  /// An answer that cannot be leaves a point without figures.
  Status answer(const TraceQuestion& question, PointResult& point) try {
    const auto found = sources_.find(key_of(question));
    if (found == sources_.end()) {
      return Error{ErrorCode::not_found, "the trace has no such step"};
    }
    const Session& source = found->second;
    if (wants_range_) {
      FORETRACE_TRY(const auto whole, source.ask(question.stack));
      add_metrics(source, whole.prediction(), point);
      return ok_status();
    }
    FORETRACE_TRY(const auto stack, path_.reach(source, question));
    // Without its range: there are many points.
    FORETRACE_TRY(ChangedRun changed, stack->simulate(question.options));
    expect_laws(source.recording(), changed);
    add_metrics(source, {std::move(changed)}, point);
    return ok_status();
  } catch (const BrokenLaw& broken) {
    return Error{ErrorCode::unsupported, broken.what()};
  }

  void add_metrics(const Session& source, const Prediction& prediction, PointResult& point) const {
    std::optional<MemoryNeed> need;
    if (wants_memory_) {
      need = source.memory_model().need(prediction.graph, prediction.run.timeline);
    }
    for (const MetricInfo& metric : sweep_.metrics) {
      point.metrics.push_back(metric_of(metric.name, source, prediction, need));
    }
  }

  static double metric_of(std::string_view name, const Session& source,
                          const Prediction& prediction, const std::optional<MemoryNeed>& need) {
    if (name == "step_ns") return static_cast<double>(prediction.run.answer.step_ns);
    const std::int64_t before = source.step_ns();
    const std::int64_t after = prediction.run.answer.step_ns;
    if (name == "speedup") return speedup_of(before, after, prediction.samples.value_or(1));
    if (name == "time_ratio") return time_ratio_of(before, after);
    if (name == "low_ns") return static_cast<double>(prediction.low_ns);
    if (name == "high_ns") return static_cast<double>(prediction.high_ns);
    if (!need) return not_known;
    if (name == "live_bytes") return static_cast<double>(need->live_bytes);
    // As whatif and plan say it; what the driver takes beside it counts in `fits` only.
    if (name == "memory_bytes") return static_cast<double>(need->reserved_bytes());
    if (name == "fits" && source.need() && prediction.accelerator) {
      return target_of(source.recording(), *source.need(), *prediction.accelerator).fits(*need);
    }
    return not_known;
  }

  const Sweep& sweep_;
  const Catalogue& catalogue_;
  const Sources& sources_;
  StackPath path_;
  bool wants_range_ = false;
  bool wants_memory_ = false;
};

class TraceEvaluation final : public Evaluation {
 public:
  TraceEvaluation(const Sweep& sweep, CataloguePtr catalogue)
      : sweep_(sweep), catalogue_(std::move(catalogue)) {}

  Status load() {
    std::vector<std::string> files;
    Status tried = try_values(sweep_, [&](const ConfigValue& document) -> Status {
      FORETRACE_TRY(auto question, read_question(document, sweep_.folder));
      FORETRACE_TRY(add_source(question, files));
      const Recording& recording = *recordings_.at(question.traces);
      FORETRACE_TRY(complete_stack(recording, *catalogue_, question));
      for (const WhatIf& what_if : question.stack) {
        for (NamedFile& file : files_named_by(what_if)) {
          files.push_back(std::move(file.path));
        }
      }
      return ok_status();
    });
    FORETRACE_TRY(tried);
    add_combinations();
    return note_inputs(std::move(files), *catalogue_);
  }

  [[nodiscard]] std::unique_ptr<PointEvaluator> evaluator() const override {
    return std::make_unique<TraceEvaluator>(sweep_, *catalogue_, sources_);
  }

  [[nodiscard]] std::vector<std::string> doubts() const override {
    std::set<std::string> doubts;  // steps and engines of one recording share them
    for (const auto& [key, source] : sources_) {
      const std::vector<std::string>& traces = std::get<0>(key);
      for (const Doubt& doubt : source.replay().doubts) {
        doubts.insert(fmt::format("{}: low confidence: {}", traces.front(), doubt.text));
      }
    }
    return {doubts.begin(), doubts.end()};
  }

 private:
  /// One axis may name the trace, another the engine, a third the step. A step that a trace does
  /// not have is a reason of its points.
  void add_combinations() {
    std::set<Engine> used;
    std::set<std::pair<StepChoice::Kind, std::int64_t>> steps;
    for (const auto& [key, source] : sources_) {
      used.insert(std::get<1>(key));
      steps.emplace(std::get<2>(key), std::get<3>(key));
    }
    std::vector<std::string> no_files;  // all traces were read
    for (const auto& [traces, recording] : recordings_) {
      for (const Engine engine : used) {
        for (const auto& [kind, number] : steps) {
          TraceQuestion question{.traces = traces};
          question.options.engine = engine;
          question.options.step = {kind, number};
          static_cast<void>(add_source(question, no_files).ok());
        }
      }
    }
  }

  /// The files of traces that were not read yet are added.
  Status add_source(const TraceQuestion& question, std::vector<std::string>& files) {
    SourceKey key = key_of(question);
    if (sources_.contains(key)) return ok_status();
    auto& recording = recordings_[question.traces];
    if (recording == nullptr) {
      FORETRACE_TRY(auto loaded, load_inputs(question.traces, {.catalogue = catalogue_}));
      FORETRACE_TRY(auto found, trace::list_files(question.traces));
      std::move(found.begin(), found.end(), std::back_inserter(files));
      recording = std::make_shared<const Recording>(std::move(loaded));
    }
    FORETRACE_TRY(auto session, Session::of(recording, question.options));
    sources_.emplace(std::move(key), std::move(session));
    return ok_status();
  }

  const Sweep& sweep_;
  CataloguePtr catalogue_;
  std::map<std::vector<std::string>, std::shared_ptr<const Recording>> recordings_;
  Sources sources_;
};

}  // namespace

Result<std::unique_ptr<const Evaluation>> prepare_traces(const Sweep& sweep,
                                                         CataloguePtr catalogue) {
  auto evaluation = std::make_unique<TraceEvaluation>(sweep, std::move(catalogue));
  FORETRACE_TRY(evaluation->load());
  return std::unique_ptr<const Evaluation>(std::move(evaluation));
}

}  // namespace foretrace::sweeping
