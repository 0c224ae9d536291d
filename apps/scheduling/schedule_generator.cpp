// The section of a schedule file that draws jobs from distributions.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/scheduling/schedule_parts.h"
#include "apps/scheduling/sources/generator.h"
#include "apps/scheduling/sources/job_table.h"
#include "models/hardware/catalogue/read_figures.h"
#include "sim/core/params.h"
#include "sim/core/whole.h"

namespace foretrace::scheduling {
namespace {

constexpr double most_jobs = 1'000'000;

double seconds(ConfigFields& fields, std::string_view key) {
  return std::max(1.0, read_positive(fields, key, ParamType::time, longest_run_ns)) / 1e9;
}

void read_durations(ConfigFields& fields, const Section& section, GeneratorOptions& options) {
  const ConfigValue* list = fields.objects("durations");
  for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
    ConfigFields piece(list->items[i], section.file,
                       fmt::format("{}/durations/{}", section.pointer, i));
    DurationPiece read;
    piece.optional_quantity("share", ParamType::number, read.share);
    read.low_exponent = std::log10(seconds(piece, "from"));
    read.high_exponent = std::log10(seconds(piece, "to"));
    if (read.high_exponent < read.low_exponent)
      piece.mistake("to", "expected a time from 'from' on");
    fields.take(piece.finish());
    options.durations.push_back(read);
  }
}

// What a job asks for beside accelerators.
void read_host(ConfigFields& piece, SizePiece& size) {
  double cpus = 0;
  double memory = 0;
  piece.optional_quantity("cpus", ParamType::number, cpus);
  piece.optional_quantity("memory", ParamType::bytes, memory);
  if (!(cpus >= 0 && cpus <= 1e6)) {
    piece.mistake("cpus", fmt::format("got {}, expected 0 to 1e6 cores", cpus));
  }
  if (!(memory >= 0 && memory <= 1e18)) piece.mistake("memory", "expected 0 to 1e18 bytes");
  size.cpu_milli = to_whole(std::clamp(cpus, 0.0, 1e6) * 1000);
  size.memory_mib = static_cast<std::int64_t>(std::clamp(memory, 0.0, 1e18) / (1 << 20));
}

void read_sizes(ConfigFields& fields, const Section& section, GeneratorOptions& options) {
  const ConfigValue* list = fields.optional_objects("sizes");
  for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
    ConfigFields piece(list->items[i], section.file,
                       fmt::format("{}/sizes/{}", section.pointer, i));
    SizePiece read;
    double gpus = 1;
    piece.optional_quantity("share", ParamType::number, read.share);
    piece.quantity("gpus", ParamType::integer, gpus);
    if (gpus < 0 || gpus > 1e6) piece.mistake("gpus", "expected 0 to 1000000");
    read.gpus = static_cast<std::int32_t>(std::clamp(gpus, 0.0, 1e6));
    read_host(piece, read);
    if (read.gpus == 0 && read.cpu_milli == 0 && read.memory_mib == 0) {
      piece.mistake("gpus", "got 0 without cpus or memory, expected at least one of them");
    }
    fields.take(piece.finish());
    options.sizes.push_back(read);
  }
}

// Types by name, all that have a rate if none are named; without any rates a type of plain time.
void read_types(ConfigFields& fields, Schedule& schedule, GeneratorOptions& options) {
  std::vector<std::string> names;
  if (fields.has("types"))
    fields.texts("types", names);
  else
    static_cast<void>(fields.optional_value("types"));
  const auto known = schedule.workload.types.values();
  for (const std::string& name : names) {
    const auto at = std::find_if(known.begin(), known.end(),
                                 [&](const JobType& type) { return type.name == name; });
    if (at == known.end()) {
      std::vector<std::string_view> all;
      for (const JobType& type : known) all.push_back(type.name);
      fields.mistake("types",
                     fmt::format("no rates of {}{}", in_quotes(name), did_you_mean(name, all)));
      return;
    }
    options.types.push_back(
        {.type = make_id<TypeId>(static_cast<std::size_t>(at - known.begin()))});
  }
  for (std::size_t i = 0; names.empty() && i < known.size(); ++i) {
    options.types.push_back({.type = make_id<TypeId>(i)});
  }
  if (options.types.empty()) {
    const TypeId type =
        type_called(schedule.workload, {.name = "seconds", .model = "", .batch = 0});
    schedule.throughput->set_clock(type);
    options.types.push_back({.type = type});
  }
  // A type runs on several accelerators if its rate on them is known.
  for (DrawnType& drawn : options.types) {
    for (const SizePiece& size : options.sizes) {
      const Where where{.kind = options.reference, .gpus = size.gpus};
      drawn.on_several &= schedule.throughput->rate(drawn.type, where) > 0;
    }
  }
  const bool asks_several = std::any_of(options.sizes.begin(), options.sizes.end(),
                                        [](const SizePiece& size) { return size.gpus > 1; });
  const bool any_on_several = std::any_of(options.types.begin(), options.types.end(),
                                          [](const DrawnType& drawn) { return drawn.on_several; });
  if (asks_several && !any_on_several) {
    fields.mistake("sizes", "no type has rates on all of these numbers of the reference kind");
  }
}

// Each gap is bounded by the file, their sum is not.
Status check_arrivals(const Section& section, const GeneratorOptions& options,
                      const Workload& workload) {
  const auto jobs = workload.jobs.values();
  const auto in_time = std::count_if(jobs.begin(), jobs.end(), [](const Job& job) {
    return static_cast<double>(job.arrival_ns) <= longest_run_ns;
  });
  if (static_cast<std::size_t>(in_time) == jobs.size()) return ok_status();
  return Error{ErrorCode::bad_config,
               fmt::format("{}: {}/mean_gap: got {}, with which {} of {} jobs come within {}, "
                           "expected all of them",
                           section.file, section.pointer,
                           quantity_text(options.mean_gap_s * 1e9, ParamType::time), in_time,
                           jobs.size(), quantity_text(longest_run_ns, ParamType::time))};
}

}  // namespace

Status read_generator(const Section& section, Schedule& schedule) {
  ConfigFields fields(*section.value, section.file, section.pointer);
  GeneratorOptions options;
  double jobs = 0;
  fields.quantity("jobs", ParamType::integer, jobs);
  if (jobs < 1 || jobs > most_jobs) {
    fields.mistake("jobs", fmt::format("got {}, expected 1 to {}", jobs, most_jobs));
  }
  options.jobs = static_cast<std::size_t>(std::clamp(jobs, 1.0, most_jobs));
  double seed = 0;
  fields.optional_quantity("seed", ParamType::integer, seed);
  options.job_seed = static_cast<std::uint64_t>(std::clamp(seed, 0.0, 1e15)) + 2;
  options.arrival_seed = options.job_seed + 1;
  options.mean_gap_s =
      optional_within(fields, "mean_gap", ParamType::time, longest_run_ns, 0) / 1e9;
  std::string reference;
  fields.optional_text("reference", reference);
  if (!reference.empty()) {
    const auto kind = kind_called(schedule.cluster, reference);
    if (kind) {
      options.reference = *kind;
    } else {
      fields.mistake("reference", kind.error().message);
    }
  }
  read_durations(fields, section, options);
  read_sizes(fields, section, options);
  read_types(fields, schedule, options);
  FORETRACE_TRY(fields.finish());
  if (options.durations.empty()) {
    return Error{ErrorCode::bad_config, fmt::format("{}: {}/durations: expected at least one",
                                                    section.file, section.pointer)};
  }
  FORETRACE_TRY(add_drawn_jobs(options, *schedule.throughput, schedule.workload));
  return check_arrivals(section, options, schedule.workload);
}

}  // namespace foretrace::scheduling
