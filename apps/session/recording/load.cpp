// From a trace file to a task graph.
#include "apps/session/recording/load.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "apps/session/recording/unprofiled_step.h"
#include "models/hardware/catalogue/recognize.h"
#include "sim/core/text.h"
#include "trace/io/read_budget.h"
#include "trace/nodes/storages/memory_graph.h"

namespace foretrace {
namespace {

/// The device that the work of the graph runs on; the first one if there are several.
const DeviceInfo* device_of(const TaskGraph& graph) {
  const auto& lanes = graph.context().lanes;
  const auto lane = std::find_if(lanes.begin(), lanes.end(), [](const Lane& candidate) {
    return candidate.kind == LaneKind::stream && candidate.device >= 0;
  });
  const auto& devices = graph.context().devices;
  if (lane == lanes.end()) {  // its work was not recorded
    return devices.size() == 1 ? devices.data() : nullptr;
  }
  const auto device = std::find_if(devices.begin(), devices.end(), [&](const DeviceInfo& info) {
    return info.rank == lane->rank && info.device == lane->device;
  });
  return device == devices.end() ? nullptr : &*device;
}

void add_accelerator(const CataloguePtr& known, Recording& recording) {
  recording.known = known;
  if (const DeviceInfo* const device = device_of(recording.graph())) {
    if (auto recognized = recognize_accelerator(recording.catalogue(), *device)) {
      recording.accelerator = std::move(recognized->accelerator);
      // A part of a device, or a smaller model of it, has less than its file says.
      if (device->memory_bytes > 0) {
        recording.accelerator->memory_bytes =
            std::min(recording.accelerator->memory_bytes, device->memory_bytes);
      }
      recording.accelerator_note = std::move(recognized->note);
    }
  }
}

/// "kineto_0.json.gz and 7 more".
std::string name_of_job(const std::vector<trace::RankTrace>& ranks) {
  const std::string first(file_name_of(ranks.front().path));
  return ranks.size() == 1 ? first : fmt::format("{} and {} more", first, ranks.size() - 1);
}

void add_report(const trace::RankTrace& rank, trace::ImportReport& sum) {
  sum.events += rank.trace.report.events;
  sum.kept += rank.trace.report.kept;
  sum.bytes += rank.trace.report.bytes;
  sum.ends_early = sum.ends_early || rank.trace.report.ends_early;
  for (const trace::Damage& damage : rank.trace.report.damage) {
    const auto same = std::find_if(sum.damage.begin(), sum.damage.end(), [&](const auto& other) {
      return other.kind == damage.kind && other.reason == damage.reason;
    });
    if (same == sum.damage.end()) {
      sum.damage.push_back(damage);
    } else {
      same->count += damage.count;
    }
  }
  for (const std::string& warning : rank.trace.report.warnings) {
    sum.warnings.push_back(warning);
  }
}

/// One trace with its graph.
Result<Recording> recording_of(const std::string& path, trace::LoadedTrace trace,
                               const LoadOptions& options) {
  std::vector<trace::Silence> one_off = trace::one_off_silences(trace.events);
  if (options.without_one_off) {
    trace::cut_out(one_off, trace.events);
  }
  Result<trace::BuiltGraph> built = options.memory_graph && trace::is_memory_only(trace)
                                        ? trace::build_memory_graph(trace)
                                        : trace::build_graph(trace, options.build);
  if (!built.ok()) {
    Error error = built.error();
    error.message += trace.nodes() != nullptr && trace::is_memory_only(trace)
                         ? "; its tensors alone can be asked about memory"
                         : "";
    return error;
  }
  Recording recording{path, std::move(trace.events), std::move(trace.report), *std::move(built),
                      std::nullopt};
  recording.one_off = std::move(one_off);
  recording.without_one_off = options.without_one_off;
  add_accelerator(options.catalogue, recording);
  return recording;
}

/// Several ranks with their joint graph.
Result<Recording> recording_of_job(std::vector<trace::RankTrace>& ranks,
                                   const LoadOptions& options) {
  if (options.without_one_off) {
    return Error{
        ErrorCode::bad_usage,
        "without one-off: pauses can be cut out of the trace of one rank only, expected one"};
  }
  FORETRACE_TRY(trace::BuiltJob built, trace::build_job(ranks, options.build));
  Recording recording;
  recording.path = name_of_job(ranks);
  recording.events.info = std::move(ranks.front().trace.events.info);
  recording.events.info.rank = ranks.size() == 1 ? recording.events.info.rank : -1;
  auto facts = std::make_shared<JobFacts>();
  for (const trace::RankTrace& rank : ranks) {
    add_report(rank, recording.report);
    facts->paths.push_back(rank.path);
  }
  facts->ranks = std::move(built.ranks);
  facts->collectives = std::move(built.collectives);
  facts->matching = std::move(built.matching);
  recording.built = std::move(built.built);
  recording.job = std::move(facts);
  add_accelerator(options.catalogue, recording);
  return recording;
}

/// Null where memory is not bounded.
using Budget = std::shared_ptr<trace::ReadBudget>;
Budget budget_of(const LoadOptions& options) {
  return options.bounded_memory ? std::make_shared<trace::ReadBudget>() : nullptr;
}

/// What was loaded, if it is within the budget, without the profiler's work if that is asked for.
Result<Recording> finished(const Budget& budget, const LoadOptions& options,
                           Result<Recording> loaded) {
  if (loaded.ok() && options.unprofiled_step_ns > 0) {
    FORETRACE_TRY(take_out_profiler(options.unprofiled_step_ns, *loaded));
  }
  if (!loaded.ok() || budget == nullptr) return loaded;
  Status kept = budget->check(loaded->path);
  return kept.ok() ? std::move(loaded) : Result<Recording>(std::move(kept).error());
}

Result<std::vector<trace::FoundTrace>> read(std::span<const std::string> inputs,
                                            const LoadOptions& options, const Budget& budget) {
  trace::JobReadOptions reading;
  reading.budget = budget;
  reading.strict = options.strict;
  reading.progress = options.progress;
  return trace::read_inputs(inputs, reading);
}

Result<Recording> job_of(std::vector<trace::FoundTrace> found, const LoadOptions& options) {
  Result<std::vector<trace::RankTrace>> ranks = trace::settle_ranks(std::move(found));
  return ranks.ok() ? recording_of_job(*ranks, options) : ranks.error();
}

}  // namespace

trace::ReadOptions reading_of(const LoadOptions& options) {
  return {.strict = options.strict, .progress = options.progress, .budget = budget_of(options)};
}

Result<Recording> load(const std::string& path, const LoadOptions& options) {
  return load_inputs({&path, 1}, options);
}

Result<Recording> load_inputs(std::span<const std::string> inputs, const LoadOptions& options) {
  const Budget budget = budget_of(options);
  FORETRACE_TRY(std::vector<trace::FoundTrace> found, read(inputs, options, budget));
  if (inputs.size() == 1 && found.size() == 1) {
    trace::FoundTrace& only = found.front();
    return finished(budget, options, recording_of(only.path, std::move(only.trace), options));
  }
  return finished(budget, options, job_of(std::move(found), options));
}

Result<Recording> load_job(std::span<const std::string> inputs, const LoadOptions& options) {
  const Budget budget = budget_of(options);
  Result<std::vector<trace::FoundTrace>> found = read(inputs, options, budget);
  return found.ok() ? finished(budget, options, job_of(*std::move(found), options)) : found.error();
}

}  // namespace foretrace
