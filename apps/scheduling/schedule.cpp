#include "apps/scheduling/schedule.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "apps/scheduling/schedule_parts.h"
#include "models/hardware/catalogue/read_figures.h"
#include "sim/core/config.h"
#include "sim/core/parallel.h"
#include "sim/core/params.h"
#include "sim/core/whole.h"

namespace foretrace::scheduling {
namespace {

constexpr std::size_t most_choices = 100;
constexpr std::size_t most_runs = 1000;  // each keeps what its jobs did

class Reader {
 public:
  Reader(const ConfigValue& root, const std::string& where) : fields_(root, where), where_(where) {}

  Status read(Schedule& schedule) {
    schedule.path = where_;
    schedule.throughput = std::make_unique<ThroughputTable>();
    part("cluster", true, [&](const Section& s) { return read_cluster(s, schedule.cluster); });
    part("throughput", false, [&](const Section& s) { return read_throughput(s, schedule); });
    part("jobs", true, [&](const Section& s) { return read_jobs(s, schedule); });
    sort_by_arrival(schedule.workload);
    read_choices("policy", "policies", "", schedule.policies);
    read_choices("placement", "placements", "pack", schedule.placements);
    const std::size_t runs = schedule.policies.size() * schedule.placements.size();
    if (runs > most_runs) {
      fields_.mistake("placements",
                      fmt::format("got {} for {} policies, expected at most {} runs in all",
                                  schedule.placements.size(), schedule.policies.size(), most_runs));
    }
    part("clock", false, [&](const Section& s) { return read_clock(s, schedule.options); });
    part("failures", false,
         [&](const Section& s) { return read_failures(s, schedule.cluster, schedule.options); });
    read_rest(schedule);
    return fields_.finish();
  }

 private:
  template <typename Read>
  void part(std::string_view key, bool required, Read read) {
    const ConfigValue* value = fields_.optional_value(key);
    if (value == nullptr) {
      if (required) fields_.mistake(key, "missing key");
      return;
    }
    if (failed_) return;  // the first mistake is told; what follows may come from it
    const Status done = read({value, where_, fields_.pointer_of(key)});
    failed_ |= !done.ok();
    fields_.take(done);
  }

  // One of a kind, or a list of them; without both `standard`, if there is one.
  void read_choices(std::string_view one_key, std::string_view list_key, std::string_view standard,
                    std::vector<Choice>& choices) {
    const ConfigValue* one = fields_.optional_value(one_key);
    const ConfigValue* several = fields_.optional_value(list_key);
    if (one == nullptr && several == nullptr && !standard.empty()) {
      choices.push_back({.name = std::string(standard), .settings = {}});
      return;
    }
    if ((one == nullptr) == (several == nullptr)) {
      return fields_.mistake(one_key,
                             fmt::format("expected either {} or a list of {}", one_key, list_key));
    }
    if (one != nullptr) {
      part(one_key, true, [&](const Section& s) { return read_choice(s, choices.emplace_back()); });
      return;
    }
    if (several->kind != ConfigValue::Kind::list || several->items.empty()) {
      return fields_.mistake(list_key, fmt::format("expected a list of at least one {}", one_key));
    }
    if (several->items.size() > most_choices) {
      return fields_.mistake(
          list_key, fmt::format("got {}, expected 1 to {}", several->items.size(), most_choices));
    }
    for (std::size_t i = 0; i < several->items.size(); ++i) {
      fields_.take(read_choice({.value = &several->items[i],
                                .file = where_,
                                .pointer = fmt::format("/{}/{}", list_key, i)},
                               choices.emplace_back()));
    }
  }

  void read_rest(Schedule& schedule) {
    schedule.options.restart_ns =
        to_whole(optional_within(fields_, "restart", ParamType::time, longest_run_ns, 0));
    double seed = 0;
    fields_.optional_quantity("seed", ParamType::integer, seed);
    schedule.seed = static_cast<std::uint64_t>(std::clamp(seed, 0.0, 1e15));
    fields_.optional_boolean("drop_what_does_not_fit", schedule.options.drops_what_does_not_fit);
    const ConfigValue* measure = fields_.optional_object("measure");
    if (measure == nullptr) return;
    ConfigFields part(*measure, where_, fields_.pointer_of("measure"));
    double first = 0;
    auto count = static_cast<double>(schedule.workload.jobs.size());
    part.optional_quantity("first_job", ParamType::integer, first);
    part.optional_quantity("jobs", ParamType::integer, count);
    const auto jobs = static_cast<double>(schedule.workload.jobs.size());
    if (first < 0 || count < 1 || first + count > jobs) {
      part.mistake("jobs", fmt::format("got jobs {} to {}, expected a range within {} jobs", first,
                                       first + count - 1, jobs));
    } else {
      for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(first + count);
           ++i) {
        schedule.measured.push_back(make_id<JobId>(i));
      }
      schedule.options.until = schedule.measured;
    }
    fields_.take(part.finish());
  }

  ConfigFields fields_;
  std::string where_;
  bool failed_ = false;
};

PlacementSetup setup_of(const Schedule& schedule) {
  return {.cluster = &schedule.cluster,
          .workload = &schedule.workload,
          .seed = schedule.seed,
          .throughput = schedule.throughput.get()};
}

Status check_choices(const Schedule& schedule) {
  for (const Choice& choice : schedule.policies) {
    FORETRACE_TRY(const auto info, find_scheduler(choice.name));
    FORETRACE_TRY(make_policy(*info, choice.settings));
  }
  for (const Choice& choice : schedule.placements) {
    FORETRACE_TRY(const auto info, find_placement(choice.name));
    FORETRACE_TRY(make_placement(*info, choice.settings, setup_of(schedule)));
  }
  return ok_status();
}

Result<Schedule> read(const Result<ConfigValue>& root, const std::string& where) {
  FORETRACE_TRY(root);
  Schedule schedule;
  FORETRACE_TRY(Reader(*root, where).read(schedule));
  FORETRACE_TRY(check_choices(schedule).with_context(where));
  return schedule;
}

Result<ScheduleRun> run_one(const Schedule& schedule, const Choice& choice, const Choice& place) {
  FORETRACE_TRY(auto scheduler, find_scheduler(choice.name));
  FORETRACE_TRY(auto policy, make_policy(*scheduler, choice.settings));
  FORETRACE_TRY(auto info, find_placement(place.name));
  FORETRACE_TRY(auto placement, make_placement(*info, place.settings, setup_of(schedule)));
  FORETRACE_TRY(auto outcome, run({&schedule.cluster, &schedule.workload, schedule.throughput.get(),
                                   policy.get(), placement.get()},
                                  schedule.options)
                                  .with_context(choice.name));
  Metrics metrics = metrics_of(outcome, schedule.cluster, schedule.workload, *schedule.throughput,
                               schedule.measured);
  return ScheduleRun{.policy = choice,
                     .placement = place,
                     .outcome = std::move(outcome),
                     .metrics = std::move(metrics)};
}

}  // namespace

Result<Schedule> read_schedule(const std::string& path) {
  return read(read_config(path, schedule_schema), path);
}

Result<Schedule> parse_schedule(std::string_view text, const std::string& where) {
  return read(parse_config_document(text, where, schedule_schema), where);
}

Result<std::vector<ScheduleRun>> run_schedule(const Schedule& schedule) {
  const std::size_t places = schedule.placements.size();
  std::vector<std::optional<Result<ScheduleRun>>> done(schedule.policies.size() * places);
  for_each_index(done.size(), [&](std::size_t i) {
    done[i] = run_one(schedule, schedule.policies[i / places], schedule.placements[i % places]);
  });
  std::vector<ScheduleRun> runs;
  for (std::optional<Result<ScheduleRun>>& one : done) {
    if (!one->ok()) return std::move(*one).error();
    runs.push_back(std::move(one->value()));
  }
  return runs;
}

}  // namespace foretrace::scheduling
