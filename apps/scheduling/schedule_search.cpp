// The section of a schedule file that makes jobs of a search of hyperparameters.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/scheduling/schedule_parts.h"
#include "apps/scheduling/sources/job_table.h"
#include "apps/scheduling/sources/trials.h"
#include "sim/core/params.h"

namespace foretrace::scheduling {
namespace {

constexpr std::array<std::string_view, 4> search_kinds = {"grid", "halving", "hyperband", "asha"};
constexpr double most_trials = 1e5;

double number_in(ConfigFields& fields, std::string_view key, ParamType type, double otherwise,
                 std::pair<double, double> range) {
  double number = otherwise;
  fields.optional_quantity(key, type, number);
  if (number >= range.first && number <= range.second) return number;
  fields.mistake(key,
                 fmt::format("got {:g}, expected {:g} to {:g}", number, range.first, range.second));
  return otherwise;
}

// A type that has rates, or plain seconds.
TypeId type_in(ConfigFields& fields, Schedule& schedule) {
  std::string name;
  fields.optional_text("type", name);
  if (name.empty()) {
    const TypeId type =
        type_called(schedule.workload, {.name = "seconds", .model = "", .batch = 0});
    schedule.throughput->set_clock(type);
    return type;
  }
  std::vector<std::string_view> known;
  for (const JobType& type : schedule.workload.types.values()) known.push_back(type.name);
  const auto found = std::find(known.begin(), known.end(), name);
  if (found != known.end()) return make_id<TypeId>(static_cast<std::size_t>(found - known.begin()));
  fields.mistake("type",
                 fmt::format("no rates of {}{}", in_quotes(name), did_you_mean(name, known)));
  return TypeId{};
}

}  // namespace

Status read_search(const Section& section, Schedule& schedule) {
  ConfigFields fields(*section.value, section.file, section.pointer);
  SearchOptions options;
  if (const auto kind = fields.word("kind", search_kinds)) {
    options.kind = static_cast<SearchKind>(*kind);
  }
  const auto whole_in = [&](std::string_view key, double otherwise, double least, double most) {
    return static_cast<std::int32_t>(
        number_in(fields, key, ParamType::integer, otherwise, {least, most}));
  };
  const bool counts = options.kind != SearchKind::hyperband;
  if (!counts && fields.has("trials")) {
    fields.mistake("trials", "HyperBand's brackets set the number; leave it out");
  }
  options.trials = static_cast<std::size_t>(whole_in("trials", 1, 1, most_trials));
  options.eta = whole_in("eta", 3, 2, 1000);
  options.rungs = whole_in("rungs", 1, 1, 20);
  options.steps = number_in(fields, "steps", ParamType::number, 1, {1e-9, 1e12});
  options.spread = number_in(fields, "spread", ParamType::number, 0, {0, 100});
  if (options.kind == SearchKind::grid && fields.has("noise")) {
    fields.mistake("noise", "a grid compares no trials; leave it out");
  }
  options.noise = number_in(fields, "noise", ParamType::number, 0, {0, 1e6});
  options.seed =
      static_cast<std::uint64_t>(number_in(fields, "seed", ParamType::integer, 0, {0, 1e15}));
  options.gpus = whole_in("gpus", 1, 1, 1e6);
  options.most_gpus = whole_in("most_gpus", 0, 0, 1e6);
  options.least_gpus = whole_in("least_gpus", options.most_gpus > 0 ? 1 : 0, 0, 1e6);
  if (options.least_gpus > options.most_gpus) fields.mistake("least_gpus", "larger than most_gpus");
  options.type = type_in(fields, schedule);
  auto all = static_cast<double>(options.trials);
  for (std::int32_t bracket = 0; !counts && bracket < options.rungs; ++bracket) {
    all += std::pow(options.eta, options.rungs - 1 - bracket) * options.rungs;
  }
  if (!(all <= most_trials) || !(std::pow(options.eta, options.rungs - 1) <= 1e9)) {
    fields.mistake("rungs", fmt::format("expected at most {:g} trials, and a last rung of at most "
                                        "1e9 times the steps of the first",
                                        most_trials));
  }
  FORETRACE_TRY(fields.finish());
  add_trials(options, schedule.workload);
  return ok_status();
}

}  // namespace foretrace::scheduling
