// foretrace plan: the best parallel plans of a model on a cluster, and why the others lose.
#include "apps/report/pages/cluster/plan.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/cli/arguments/command.h"
#include "apps/cli/names/configs.h"
#include "apps/cli/names/names.h"
#include "apps/cli/options.h"
#include "apps/cli/output/answers.h"
#include "apps/cli/output/busy.h"
#include "apps/cli/output/console.h"
#include "apps/cli/output/outputs.h"
#include "apps/plans/changed_plans.h"
#include "apps/plans/plan_request.h"
#include "apps/plans/plan_search.h"
#include "apps/plans/recorded_plans.h"
#include "apps/plans/stage_search.h"
#include "apps/report/pages/cluster/recorded_plans.h"
#include "apps/report/pages/cluster/stages.h"
#include "apps/session/changed_job.h"
#include "apps/session/predict.h"
#include "models/hardware/catalogue/config_files.h"
#include "models/hardware/catalogue/imported_file.h"
#include "models/hardware/networks/cluster.h"
#include "models/jobs/scenario/scenario_text.h"
#include "models/jobs/workloads/model_import.h"
#include "models/jobs/workloads/model_spec.h"
#include "sim/core/config.h"
#include "sim/core/params.h"

namespace foretrace::commands::plan_parts {
namespace {

constexpr std::array<std::string_view, 2> stage_kinds = {"even", "auto"};

constexpr std::size_t most_batch = 1'000'000'000;
constexpr std::size_t most_length = 1'000'000'000;

struct Options {
  app::CommonOptions common;
  std::string model;
  std::string cluster;
  std::string framework;  ///< empty: the usual one of the machine
  std::string precision;  ///< empty: the usual one of the machine
  std::string gpus;
  std::size_t batch = 0;
  std::size_t sequence = 0;
  std::size_t top = 5;
  std::size_t layers = 0;
  std::string stages;  ///< empty: even
  std::string output;
  std::vector<std::string> apply;
};

/// Numbers of devices: the power of two below, or equal to, what a cluster has.
struct DeviceRange {
  std::uint32_t least = 1;
  std::uint32_t most = 1;
};

Error bad_range(std::string_view text) {
  return Error{ErrorCode::bad_usage,
               fmt::format("--gpus: got {}, expected a number such as 64, or a range such as "
                           "64..4096",
                           in_quotes(text))};
}

Result<std::uint32_t> device_count(std::string_view part, std::string_view text) {
  std::uint32_t value = 0;
  const char* const end = part.data() + part.size();
  const auto [stop, failed] = std::from_chars(part.data(), end, value);
  if (failed != std::errc() || stop != end || value == 0) return bad_range(text);
  return value;
}

Result<DeviceRange> device_range(const std::string& text, const Cluster& cluster) {
  const std::uint32_t all = cluster.accelerators();
  if (text.empty()) {
    const std::uint32_t most = power_of_two_within(all);
    return DeviceRange{most, most};
  }
  const std::string_view view = text;
  const auto dots = view.find("..");
  const auto first = device_count(view.substr(0, dots), text);
  FORETRACE_TRY(first);
  FORETRACE_TRY(const auto last,
                dots == std::string_view::npos ? first : device_count(view.substr(dots + 2), text));
  if (last < *first) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("--gpus: got {}, expected the smaller number first: {}..{}",
                             in_quotes(text), last, *first)};
  }
  if (last > all) {
    return Error{ErrorCode::bad_usage, fmt::format("--gpus: got {}, expected at most {}", last,
                                                   accelerators_of(cluster, last))};
  }
  return DeviceRange{*first, last};
}

Result<Scenario> scenario_of(const Options& options) {
  FORETRACE_TRY(const CataloguePtr known, app::catalogue());
  FORETRACE_TRY(auto scenario,
                scenario_of(*known, {options.model, options.cluster, options.framework,
                                     options.precision, options.sequence}));
  FORETRACE_TRY(auto specs, parse_stack(options.apply));
  FORETRACE_TRY(app::resolve_names(specs));
  if (!specs.empty()) scenario.what_ifs = what_ifs_json(specs);
  FORETRACE_TRY(what_ifs_of(scenario));
  return scenario;
}

Result<PlanAnswer> plans_of(const PlanQuestion& question) {
  if (question.scenario.what_ifs.empty()) return search_plans(question);
  FORETRACE_TRY(const CataloguePtr known, app::catalogue());
  return search_changed_plans(question, known);
}

/// One search per number of devices: from the least, doubling, to the most.
struct Answers {
  std::vector<PlanAnswer> strong;
  std::vector<PlanAnswer> weak;
};

Result<Answers> search(const Options& options, const Scenario& scenario, const DeviceRange& range) {
  Answers answers;
  const double batch =
      options.batch > 0 ? static_cast<double>(options.batch)
                        : usual_batch(scenario.model->transformer, scenario.job.length, range.most);
  for (std::uint64_t devices = range.least; devices <= range.most; devices *= 2) {
    const auto gpus = static_cast<std::uint32_t>(devices);
    FORETRACE_TRY(auto strong, plans_of({scenario, gpus, batch, options.top}));
    answers.strong.push_back(std::move(strong));
    if (range.least == range.most) break;
    // The largest number of devices has the whole batch.
    const double share = std::max(1.0, batch / range.most);
    FORETRACE_TRY(auto weak, plans_of({scenario, gpus, share * gpus, options.top}));
    answers.weak.push_back(std::move(weak));
  }
  return answers;
}

/// Models are .json files that hold no events, and what an importer of models knows; what else is a
/// file or a folder was recorded, but for a folder that is called as a model is ("./gpt2" is that).
bool is_recording(const Catalogue& known, const std::string& path) {
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed)) {
    return names_file(path) || !find_model(known, path).ok();
  }
  if (!std::filesystem::is_regular_file(path, failed)) return false;
  if (!path.ends_with(".json") || path.ends_with(".ftr.json")) {
    const auto file = read_imported_file(path);
    return !file.ok() || model_import_of(*file) == nullptr;
  }
  std::ifstream file(path, std::ios::binary);
  std::string head(std::size_t{64} << 10U, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return head.find("traceEvents") != std::string::npos ||
         head.find("schemaVersion") != std::string::npos ||
         head.find("\"ph\"") != std::string::npos;
}

app::Exit plan_trace(const Options& options) {
  const std::pair<bool, std::string_view> of_models[] = {
      {options.batch > 0, "--batch"},
      {options.sequence > 0, "--sequence"},
      {!options.framework.empty(), "--framework"},
      {!options.precision.empty(), "--precision"},
      {!options.stages.empty(), "--stages"},
      {!options.apply.empty(), "--apply"},
      {!options.output.empty(), "--output"}};
  for (const auto& [given, name] : of_models) {
    if (!given) continue;
    return Error{ErrorCode::bad_usage,
                 fmt::format("plan: {} applies to a model; a recording has its own", name)};
  }
  FORETRACE_TRY(const auto cluster, app::catalogue());
  FORETRACE_TRY(const auto found, find_cluster(*cluster, options.cluster));
  FORETRACE_TRY(const auto range, device_range(options.gpus, found));
  if (range.least != range.most) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("--gpus: got {}, expected one number for a recording",
                             in_quotes(options.gpus))};
  }
  app::TraceOptions trace;
  trace.paths = {options.model};
  FORETRACE_TRY(const auto session, app::open_session(trace, options.common));
  FORETRACE_TRY(
      const auto answer, app::while_busy(options.common, "spreading the run", [&] {
        return plan_recording(session, {options.cluster, range.most, options.layers, options.top});
      }));
  const bool fits = !answer.plans.empty() && answer.plans.front().fits;
  return app::answer(report::recorded_plans_page(
                         {session.recording(), answer, options.top, session.replay().doubts}),
                     options.common, fits ? app::exit_done : app::exit_answer_is_no);
}

/// The best plan as a scenario that says it.
Status write_scenario(const Options& options, const Job& job, const Scenario& scenario) {
  if (options.output.empty()) return ok_status();
  const auto place = [](const std::string& name) {
    std::error_code failed;
    const bool is_file = std::filesystem::is_regular_file(name, failed);
    return is_file ? std::filesystem::absolute(name).string() : name;
  };
  return app::write_file(options.output,
                         scenario_text(job,
                                       {place(options.model), place(options.cluster),
                                        options.framework.empty() ? scenario.framework->name
                                                                  : place(options.framework)},
                                       scenario.what_ifs));
}

app::Exit plan_stages(const Options& options, const Scenario& scenario, const DeviceRange& range) {
  if (range.least != range.most) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("--gpus: got {}, expected one number with --stages auto",
                             in_quotes(options.gpus))};
  }
  const double batch =
      options.batch > 0 ? static_cast<double>(options.batch)
                        : usual_batch(scenario.model->transformer, scenario.job.length, range.most);
  FORETRACE_TRY(const auto answer,
                app::while_busy(options.common, "cutting the model into stages", [&] {
                  return search_stages({scenario, range.most, batch, options.top});
                }));
  const bool fits = !answer.best.empty();
  if (fits) {
    FORETRACE_TRY(write_scenario(options, answer.best.front().scenario.job, scenario));
  }
  return app::answer(report::stages_page({scenario, answer, fits ? options.output : ""}),
                     options.common, fits ? app::exit_done : app::exit_answer_is_no);
}

app::Exit run(const Options& options) {
  const std::array inputs = {options.cluster, options.model, options.framework};
  FORETRACE_TRY(app::check_output(options.output, inputs));
  FORETRACE_TRY(const auto known, app::catalogue());
  if (is_recording(*known, options.model)) return plan_trace(options);
  if (options.layers > 0) {
    return Error{ErrorCode::bad_usage,
                 "plan: --layers applies to a recording; a model has its own"};
  }
  FORETRACE_TRY(const auto scenario, scenario_of(options));
  const TransformerSpec& model = scenario.model->transformer;
  if (model.is_recorded() && !(model.hidden > 0)) {
    return Error{
        ErrorCode::unsupported,
        fmt::format("{}: got recorded layers, which do not state what stages send to each other, "
                    "expected a model or a profile (simulate runs a scenario of them)",
                    options.model)};
  }
  FORETRACE_TRY(const auto range, device_range(options.gpus, *scenario.cluster));
  if (options.stages == "auto" && !options.apply.empty()) {
    return Error{ErrorCode::bad_usage,
                 "plan: --apply works with equal stages only; leave out --stages auto"};
  }
  if (options.stages == "auto") return plan_stages(options, scenario, range);
  FORETRACE_TRY(const auto answers, app::while_busy(options.common, "searching plans", [&] {
                  return search(options, scenario, range);
                }));
  const bool fits = !answers.strong.back().best.empty();
  if (fits) {
    const Job& best = answers.strong.back().best.front().job;
    FORETRACE_TRY(write_scenario(options, best, scenario));
  }
  return app::answer(report::plans_page({scenario, answers.strong, answers.weak}), options.common,
                     fits ? app::exit_done : app::exit_answer_is_no);
}

void declare(app::Arguments& cli, Options& options) {
  cli.add_option(
         "MODEL", options.model,
         "a name that foretrace list models prints, a .json file of a model, a Hugging Face "
         "config.json, or the trace of a run on one device")
      .required();
  cli.add_option("--cluster", options.cluster, "the machine: see foretrace list clusters")
      .type_name("NAME")
      .required();
  cli.add_option("--gpus", options.gpus,
                 "number of devices, such as 64, or a range for strong and weak scaling, such as "
                 "64..4096 (the largest power of two in the cluster)")
      .type_name("N|N..M");
  cli.add_option("--batch", options.batch,
                 "sequences per step (4 Mi tokens, and at least one sequence per device)")
      .in_range(1, most_batch);
  cli.add_option("--sequence", options.sequence,
                 "tokens of a sequence (the model's positions, at most 8192)")
      .in_range(1, most_length);
  cli.add_option(
         "--framework", options.framework,
         "see foretrace list frameworks (the usual one of the machine: megatron_core, on TPUs "
         "maxtext_tpu, on AMD's devices torchtitan); fields may be changed: NAME:reduce=2")
      .type_name("NAME");
  cli.add_option(
         "--precision", options.precision,
         "fp32, tf32, fp16, bf16 or fp8 (bf16, else fp16, where the machine has units for it)")
      .type_name("NAME");
  cli.add_option("--top", options.top, "how many of the best plans to show (5)").in_range(1, 100);
  cli.add_option("--layers", options.layers,
                 "for a trace without layers: number of parts of equal time");
  cli.add_option("--stages", options.stages,
                 "even (default): equal pipeline stages; auto: layers and ranks of each stage are "
                 "chosen (Alpa)")
      .one_of(stage_kinds)
      .type_name("KIND");
  cli.add_option("-a,--apply", options.apply,
                 "a what-if of the model's step, NAME[:key=value,...] or @FILE.json; may be "
                 "repeated")
      .type_name("WHATIF");
  cli.add_option("-o,--output", options.output, "write the best plan as a scenario")
      .type_name("FILE");
  app::add_page(cli, options.common);
  app::add_common(cli, options.common);
  cli.add_examples(
      {{"foretrace plan llama3_70b --cluster dgx_h100 --gpus 512",
        "the fastest plans that fit, and why the others lose"},
       {"foretrace plan gpt3_175b --cluster selene --gpus 64..2048",
        "how the best plan scales: one batch for all, and one batch per device"},
       {"foretrace plan resnet50 --cluster dgx_a100 --gpus 8 --stages auto -o best.json",
        "layers and devices chosen for each pipeline stage, and the scenario to simulate"},
       {"foretrace plan trace.json.gz --cluster dgx_a100 --gpus 64",
        "a recorded run of one device, on 64"},
       {"foretrace plan ./config.json --cluster dgx_a100 --gpus 16 --batch 64", "your own model"}});
}

}  // namespace

extern constexpr CommandInfo info = {
    "plan", app::Group::plan,
    "find the best parallel plans of a model on a cluster, and why the others lose",
    app::set_up<Options, declare, run>};

}  // namespace foretrace::commands::plan_parts
