// foretrace plan: the best parallel plans of a model on a cluster, and why the others lose.
#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "apps/cli/answers.h"
#include "apps/cli/busy.h"
#include "apps/cli/command.h"
#include "apps/cli/configs.h"
#include "apps/cli/console.h"
#include "apps/cli/options.h"
#include "apps/driver/plan/plan_request.h"
#include "apps/driver/plan/plan_search.h"
#include "apps/report/pages.h"
#include "sim/core/params.h"

namespace foretrace::commands {
namespace {

struct Options {
  app::CommonOptions common;
  std::string model;
  std::string cluster;
  std::string framework = "megatron_core";
  std::string precision = "bf16";
  std::string gpus;
  std::size_t batch = 0;
  std::size_t sequence = 0;
  std::size_t top = 5;
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

Result<DeviceRange> device_range(const std::string& text, std::uint32_t all) {
  if (text.empty()) {
    const std::uint32_t most = driver::power_of_two_within(all);
    return DeviceRange{most, most};
  }
  const std::string_view view = text;
  const auto dots = view.find("..");
  const auto first = device_count(view.substr(0, dots), text);
  if (!first.ok()) return first.error();
  const auto last =
      dots == std::string_view::npos ? first : device_count(view.substr(dots + 2), text);
  if (!last.ok()) return last.error();
  if (*last < *first) return bad_range(text);
  if (*last > all) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("--gpus: got {}, expected at most the {} accelerators of the cluster",
                             *last, all)};
  }
  return DeviceRange{*first, *last};
}

Result<driver::Scenario> scenario_of(const Options& options) {
  const Result<CataloguePtr> known = app::catalogue();
  if (!known.ok()) return known.error();
  return driver::scenario_of(**known, {options.model, options.cluster, options.framework,
                                       options.precision, options.sequence});
}

/// One search per number of devices: from the least, doubling, to the most.
struct Answers {
  std::vector<driver::PlanAnswer> strong;
  std::vector<driver::PlanAnswer> weak;
};

Result<Answers> search(const Options& options, const driver::Scenario& scenario,
                       const DeviceRange& range) {
  Answers answers;
  const double batch = options.batch > 0 ? static_cast<double>(options.batch)
                                         : driver::usual_batch(scenario.job.length, range.most);
  for (std::uint64_t devices = range.least; devices <= range.most; devices *= 2) {
    const auto gpus = static_cast<std::uint32_t>(devices);
    auto strong = driver::search_plans({scenario, gpus, batch, options.top});
    if (!strong.ok()) return std::move(strong).error();
    answers.strong.push_back(*std::move(strong));
    if (range.least == range.most) break;
    // The largest number of devices has the whole batch.
    const double share = std::max(1.0, batch / range.most);
    auto weak = driver::search_plans({scenario, gpus, share * gpus, options.top});
    if (!weak.ok()) return std::move(weak).error();
    answers.weak.push_back(*std::move(weak));
  }
  return answers;
}

int run(const Options& options) {
  app::start_logging(options.common);
  const auto scenario = scenario_of(options);
  if (!scenario.ok()) return app::failure(scenario.error());
  const auto range = device_range(options.gpus, scenario->cluster->accelerators());
  if (!range.ok()) return app::failure(range.error());
  const auto answers = app::while_busy(options.common, "searching plans",
                                       [&] { return search(options, *scenario, *range); });
  if (!answers.ok()) return app::failure(answers.error());
  const bool fits = !answers->strong.back().best.empty();
  return app::answer(report::plans_page({*scenario, answers->strong, answers->weak}),
                     options.common, fits ? app::exit_done : app::exit_answer_is_no);
}

std::function<int()> setup(app::Arguments& cli) {
  const auto options = std::make_shared<Options>();
  cli.add_option("MODEL", options->model,
                 "a name that foretrace list models prints, a .json file of a model, or a Hugging "
                 "Face config.json")
      .required();
  cli.add_option("--cluster", options->cluster, "the machine; foretrace list clusters names them")
      .type_name("NAME")
      .required();
  cli.add_option("--gpus", options->gpus,
                 "devices, such as 64; or a range, 64..4096, that draws strong and weak scaling; "
                 "without it, as many as a power of two of the cluster")
      .type_name("N|N..M");
  cli.add_option("--batch", options->batch,
                 "sequences per step; without it, 4 Mi tokens, and at least one per device");
  cli.add_option("--sequence", options->sequence, "tokens of a sequence (the model's positions)");
  cli.add_option("--framework", options->framework,
                 "foretrace list frameworks names them (megatron_core)")
      .type_name("NAME");
  cli.add_option("--precision", options->precision, "fp32, tf32, fp16, bf16 (default) or fp8")
      .type_name("NAME");
  cli.add_option("--top", options->top, "how many of the best plans to show (5)").in_range(1, 100);
  app::add_page(cli, options->common);
  app::add_common(cli, options->common);
  constexpr app::Example examples[] = {
      {"foretrace plan llama3_70b --cluster dgx_h100 --gpus 512",
       "the fastest plans that fit, and why the others lose"},
      {"foretrace plan gpt3_175b --cluster selene --gpus 64..2048",
       "how the best plan scales: one batch for all, and one batch per device"},
      {"foretrace plan ./config.json --cluster dgx_a100 --gpus 16 --batch 64",
       "a model of one's own"}};
  cli.add_examples(examples);
  return [options] { return run(*options); };
}

}  // namespace

extern const CommandInfo plan;
const CommandInfo plan = {
    "plan", "find the best parallel plans of a model on a cluster, and why the others lose", setup};

}  // namespace foretrace::commands
