#include "apps/questions/validate/what_if_table.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "apps/questions/validate/folders.h"
#include "apps/questions/validate/validate_jobs.h"
#include "apps/session/session.h"
#include "apps/session/what_if_stack.h"
#include "models/whatifs/examples.h"
#include "sim/core/parallel.h"

namespace foretrace {
namespace {

namespace fs = std::filesystem;

struct TriedExample {
  WhatIf what_if;
  ExampleRow row;
};

Result<std::vector<TriedExample>> all_examples(const Catalogue& catalogue) {
  std::vector<TriedExample> examples;
  for (const WhatIfInfo* const info : what_ifs::all()) {
    FORETRACE_TRY(Example example, example_of(catalogue, *info));
    examples.push_back({std::move(example.what_if), {info, std::move(example.settings), {}}});
  }
  return examples;
}

ExampleOutcome outcome_of(const Session& session, const WhatIf& what_if) {
  ExampleOutcome outcome{.trace = session.recording().path, .refusal = {}};
  const Result<Answer> answer = session.ask({&what_if, 1}, Neutral::refuse);
  if (!answer.ok()) {
    outcome.is_error = answer.error().code != ErrorCode::no_match;
    outcome.refusal = reason_of(answer.error(), what_if.info->name);
    return outcome;
  }
  outcome.before_ns = session.step_ns();
  outcome.after_ns = answer->step_ns();
  outcome.low_ns = answer->low_ns();
  outcome.high_ns = answer->high_ns();
  outcome.samples = answer->samples();
  return outcome;
}

/// False if the recording cannot be replayed.
bool try_all(Recording recording, std::vector<TriedExample>& examples) {
  const Result<Session> session = Session::of(std::move(recording));
  if (!session.ok()) return false;
  for_each_index(examples.size(), [&](std::size_t i) {
    examples[i].row.outcomes.push_back(outcome_of(*session, examples[i].what_if));
  });
  return true;
}

/// A reason without its figures, so that those of several traces are equal.
std::string without_figures(const std::string& reason) {
  std::string text;
  for (const char c : reason) {
    const bool figure = c >= '0' && c <= '9';
    if (!figure) {
      text += c;
    } else if (!text.ends_with('N')) {
      text += 'N';
    }
  }
  return text;
}

}  // namespace

double ExampleOutcome::change() const {
  return before_ns == 0
             ? 0
             : static_cast<double>(after_ns) / (static_cast<double>(before_ns) * samples) - 1;
}

std::size_t ExampleRow::applied() const {
  return static_cast<std::size_t>(
      std::count_if(outcomes.begin(), outcomes.end(),
                    [](const ExampleOutcome& outcome) { return outcome.refusal.empty(); }));
}

std::vector<const ExampleOutcome*> ExampleRow::by_change() const {
  std::vector<const ExampleOutcome*> list;
  for (const ExampleOutcome& outcome : outcomes) {
    if (outcome.refusal.empty()) list.push_back(&outcome);
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const auto* a, const auto* b) { return a->change() < b->change(); });
  return list;
}

std::string ExampleRow::usual_refusal() const {
  std::map<std::string, std::pair<std::size_t, const std::string*>> reasons;
  for (const ExampleOutcome& outcome : outcomes) {
    if (outcome.refusal.empty()) continue;
    auto& [count, first] = reasons[without_figures(outcome.refusal)];
    if (count++ == 0) first = &outcome.refusal;
  }
  const auto usual = std::max_element(
      reasons.begin(), reasons.end(),
      [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
  return usual == reasons.end()
             ? std::string()
             : fmt::format("{} x {}", usual->second.first, *usual->second.second);
}

Result<ExampleTable> example_table(const CataloguePtr& catalogue, const std::string& folder) {
  FORETRACE_TRY(std::vector<TriedExample> examples, all_examples(*catalogue));
  FORETRACE_TRY(const std::vector<KnownJob> jobs, known_jobs(*catalogue, folder));
  LoadOptions loading;
  loading.catalogue = catalogue;
  ExampleTable table;
  Status done = for_each_recording(catalogue, folder, [&](FolderRecording&& file) {
    Result<Recording>& recording = file.recording;
    if (!recording.ok() || recording->job != nullptr) return;
    recording->path = file.name;
    table.recordings += try_all(*std::move(recording), examples) ? 1 : 0;
  });
  FORETRACE_TRY(done);
  for (const KnownJob& job : jobs) {
    if (!job.is_there) continue;
    Result<Recording> recording = load_job(job.inputs, loading);
    if (!recording.ok()) continue;
    recording->path = job.id;
    table.recordings += try_all(*std::move(recording), examples) ? 1 : 0;
  }
  for (TriedExample& example : examples) table.rows.push_back(std::move(example.row));
  return table;
}

}  // namespace foretrace
