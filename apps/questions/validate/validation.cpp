#include "apps/questions/validate/validation.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "apps/questions/validate/ablated_pairs.h"
#include "apps/questions/validate/folders.h"
#include "models/hardware/catalogue/accelerator.h"
#include "models/whatifs/what_if_spec.h"
#include "sim/core/parallel.h"
#include "sim/core/whole.h"

namespace foretrace {
namespace {

namespace fs = std::filesystem;

double error_of(std::int64_t simulated, std::int64_t measured) {
  return measured > 0 ? static_cast<double>(simulated) / static_cast<double>(measured) - 1.0 : 0.0;
}

Result<ReplayRow> replay_row(const Recording& recording) {
  FORETRACE_TRY(Replay replayed, replay(recording));
  trace::BuildOptions constant;
  constant.constant_latency = true;
  Recording again{.path = recording.path,
                  .events = recording.events,
                  .report = recording.report,
                  .built = {},
                  .accelerator = {}};
  FORETRACE_TRY(again.built, trace::build_graph(recording.events, constant));
  FORETRACE_TRY(Replay without_recorded, replay(again));
  ReplayRow row;
  row.events = recording.report.events;
  row.tasks = recording.graph().size();
  if (!replayed.measured.host_ns.empty()) {
    row.measured_step_ns = replayed.measured_answer.step_ns;
    row.simulated_step_ns = replayed.run.answer.step_ns;
    row.step_error = replayed.error;
  }
  row.measured_span_ns = recording.built.honesty.span_ns;
  row.span_error = replayed.span_error;
  row.worst_step_error = replayed.worst_step_error;
  row.constant_span_error = without_recorded.span_error;
  row.constant_worst_step_error = without_recorded.worst_step_error;
  row.reactions = replayed.reactions;
  row.honesty = recording.built.honesty;
  return row;
}

struct Pair {
  std::vector<std::string> base;  // several: the ranks of a job
  std::vector<std::string> changed;
  std::vector<std::string> apply;
  std::int64_t unprofiled_step_ns = 0;  // of the base, where the profiler's work is to go; else 0
  double measured_factor = 0;  // step time after / before the change, without a profiler; 0: none
  PairRow row;
};

/// A text, or a list of them.
std::vector<std::string> texts_of(const nlohmann::json& entry, const char* key) {
  const auto found = entry.find(key);
  if (found == entry.end()) {
    return {};
  }
  return found->is_string() ? std::vector<std::string>{found->get<std::string>()}
                            : found->get<std::vector<std::string>>();
}

/// 0 where there is no number.
double number_at(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

/// What was measured of a pair that has no second recording.
Status read_measured(const nlohmann::json& entry, const std::string& path, Pair& pair) {
  const auto found = entry.find("measured");
  if (found == entry.end() || !found->is_object()) return ok_status();
  const double before = number_at(*found, "base_step_ms");
  const double after = number_at(*found, "step_ms");
  constexpr double least_ms = 1e-6;
  constexpr double most_ms = 1e9;
  const auto is_time = [](double ms) { return ms >= least_ms && ms <= most_ms; };
  if (!is_time(before) || !is_time(after)) {
    return Error{ErrorCode::bad_config,
                 fmt::format("{}: pair '{}': measured: expected base_step_ms and step_ms, numbers "
                             "from 1e-6 to 1e9",
                             path, pair.row.id)};
  }
  pair.measured_factor = after / before;
  if (const auto asked = entry.find("unprofiled"); asked != entry.end() && *asked == true) {
    pair.unprofiled_step_ns = to_whole(before * 1e6);
  }
  constexpr double most_bytes = 1e15;
  pair.row.measured_peak_bytes =
      to_whole(std::clamp(number_at(*found, "peak_bytes"), 0.0, most_bytes));
  return ok_status();
}

Result<std::vector<Pair>> read_pairs(const Catalogue& catalogue, const std::string& folder) {
  const std::string own = folder + "/pairs.json";
  std::error_code failed;
  const std::string path =
      fs::exists(own, failed) ? own : catalogue.directory() + "/validation/pairs.json";
  std::ifstream file(path);
  const nlohmann::json document = nlohmann::json::parse(file, nullptr, false, true);
  if (document.is_discarded() || !document.contains("pairs") || !document["pairs"].is_array()) {
    return Error{ErrorCode::bad_config, fmt::format("{}: not a list of pairs", path)};
  }
  if (const auto schema = document.find("schema");
      schema != document.end() && *schema != "foretrace.pairs/1") {
    return Error{ErrorCode::bad_config,
                 fmt::format("{}: /schema: got {}, expected \"foretrace.pairs/1\"", path,
                             schema->is_primitive() ? schema->dump() : schema->type_name())};
  }
  std::vector<Pair> pairs;
  for (const nlohmann::json& entry : document["pairs"]) {
    Pair pair;
    try {
      pair.row.id = entry.value("id", "");
      pair.row.changed_what = entry.value("changed_what", "");
      pair.row.why = entry.value("why", "");
      pair.base = texts_of(entry, "base");
      pair.changed = texts_of(entry, "changed");
      pair.apply = texts_of(entry, "apply");
    } catch (const nlohmann::json::exception&) {
      return Error{
          ErrorCode::bad_config,
          fmt::format("{}: /pairs/{}: expected an object with texts, and base, changed and "
                      "apply texts or lists of them",
                      path, pairs.size())};
    }
    FORETRACE_TRY(read_measured(entry, path, pair));
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

/// The prediction of a row from a graph without a rule; what was measured stays.
Status predict_without(const CataloguePtr& catalogue, const std::string& rule, Pair& pair) {
  LoadOptions options{.catalogue = catalogue};
  options.build.without_rules.emplace(rule);
  options.unprofiled_step_ns = pair.unprofiled_step_ns;
  FORETRACE_TRY(const Session base, open(pair.base, {.load = options}));
  FORETRACE_TRY(const std::vector<WhatIf> stack, stack_of(pair.apply));
  FORETRACE_TRY(const Answer predicted, base.ask(stack));
  pair.row.predicted_ns = predicted.step_ns();
  return ok_status();
}

/// Names the files of a pair below the folder; false if one is not there.
bool find_files(const std::string& folder, Pair& pair) {
  bool there = !pair.base.empty() && (pair.measured_factor > 0 || !pair.changed.empty());
  for (std::vector<std::string>* const files : {&pair.base, &pair.changed}) {
    for (std::string& file : *files) {
      file = fmt::format("{}/{}", folder, file);
      std::error_code ignored;
      there = there && fs::exists(file, ignored);
    }
  }
  return there;
}

/// Fills a row. Only the step time of the changed recording is used.
Status predict_pair(const CataloguePtr& catalogue, Pair& pair) {
  LoadOptions options{.catalogue = catalogue};
  options.unprofiled_step_ns = pair.unprofiled_step_ns;
  FORETRACE_TRY(const Session base, open(pair.base, {.load = options}));
  pair.row.base_ns = base.replay().measured_answer.step_ns;
  std::optional<Session> changed;
  if (pair.measured_factor > 0) {
    pair.row.measured_ns = to_whole(pair.measured_factor * static_cast<double>(pair.row.base_ns));
  } else {
    FORETRACE_TRY(const Session after, open(pair.changed, {.load = options}));
    changed = after;
    pair.row.measured_ns = after.replay().measured_answer.step_ns;
  }
  FORETRACE_TRY(const std::vector<WhatIf> stack, stack_of(pair.apply));
  pair.row.applied = fmt::format("{}", fmt::join(pair.apply, " + "));
  if (changed && stack.size() == 1 && stack.front().info->accelerator_param != nullptr) {
    FORETRACE_TRY(pair.row.kernels,
                  kernel_errors(base.recording(), changed->recording(), stack.front()));
  }
  FORETRACE_TRY(const Answer predicted, base.ask(stack));
  pair.row.predicted_ns = predicted.step_ns();
  pair.row.low_ns = predicted.low_ns();
  pair.row.high_ns = predicted.high_ns();
  if (pair.row.measured_peak_bytes > 0) {
    for (const MemoryCurve& curve : predicted.memory().curves) {
      pair.row.predicted_peak_bytes = std::max(pair.row.predicted_peak_bytes, curve.peak_bytes);
    }
  }
  return ok_status();
}

}  // namespace

double ReplayRow::unexplained_share() const {
  return measured_span_ns > 0
             ? static_cast<double>(honesty.unexplained_device_ns + honesty.unexplained_launch_ns) /
                   static_cast<double>(measured_span_ns)
             : 0.0;
}

double PairRow::half_width() const {
  return low_ns > 0 && high_ns > low_ns
             ? std::log(static_cast<double>(high_ns) / static_cast<double>(low_ns)) / 2
             : 0.0;
}

Coverage coverage_of(const std::vector<PairRow>& pairs) {
  Coverage coverage;
  for (const PairRow& row : pairs) {
    if (row.failure.empty()) {
      ++coverage.predicted;
      coverage.covered += row.covered() ? 1 : 0;
      coverage.mean_half_width += row.half_width();
    }
  }
  coverage.mean_half_width /= static_cast<double>(std::max<std::size_t>(1, coverage.predicted));
  return coverage;
}

double PairRow::error() const { return error_of(predicted_ns, measured_ns); }

Result<ReplayTable> replay_table(const CataloguePtr& catalogue, const std::string& folder) {
  ReplayTable table;
  Status done = for_each_recording(catalogue, folder, [&](FolderRecording&& file) {
    Result<ReplayRow> row = file.recording.ok() ? replay_row(*file.recording)
                                                : Result<ReplayRow>(file.recording.error());
    if (!row) {
      table.left_out.push_back({file.name, row.error().message});
      return;
    }
    row->trace = file.name;
    table.rows.push_back(std::move(row).value());
  });
  FORETRACE_TRY(done);
  return table;
}

Result<std::vector<PairRow>> pair_table(const CataloguePtr& catalogue, const std::string& folder) {
  FORETRACE_TRY(std::vector<Pair> pairs, read_pairs(*catalogue, folder));
  std::vector<PairRow> rows;
  for (Pair& pair : pairs) {
    if (!find_files(folder, pair)) {
      pair.row.failure = "recordings not found";
    } else if (Status done = predict_pair(catalogue, pair); !done) {
      pair.row.failure = done.error().message;
    }
    rows.push_back(std::move(pair.row));
  }
  return rows;
}

Result<std::vector<PairRow>> pairs_without(const CataloguePtr& catalogue, const std::string& folder,
                                           const std::string& rule,
                                           const std::vector<PairRow>& known) {
  FORETRACE_TRY(std::vector<Pair> pairs, read_pairs(*catalogue, folder));
  FORETRACE_CHECK(pairs.size() == known.size());
  std::vector<PairRow> rows = known;
  for_each_index(rows.size(), [&](std::size_t i) {
    Pair& pair = pairs[i];
    if (!known[i].failure.empty() || !find_files(folder, pair)) return;
    pair.row = known[i];
    if (Status done = predict_without(catalogue, rule, pair); !done) {
      pair.row.failure = done.error().message;
    }
    rows[i] = pair.row;
  });
  return rows;
}

}  // namespace foretrace
