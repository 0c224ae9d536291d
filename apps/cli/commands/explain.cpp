// foretrace explain: everything about one component, so that its answers can be judged.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/cli/arguments/command.h"
#include "apps/cli/arguments/help.h"
#include "apps/cli/names/components.h"
#include "apps/cli/names/configs.h"
#include "apps/cli/names/names.h"
#include "apps/cli/options.h"
#include "apps/cli/output/answers.h"
#include "apps/cli/output/console.h"
#include "models/jobs/workloads/model_spec.h"
#include "sim/core/config.h"
#include "sim/core/params.h"
#include "trace/formats/common/own_files.h"

namespace foretrace::commands::explain_parts {
namespace {

using app::Component;

struct Options {
  app::CommonOptions common;
  std::string name;
};

/// A word as an answer prints it, "first use", "CPU-bound" or "samples/s", as it is called here.
std::string spelled(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == '/') {
      text += "_per_";
    } else {
      text += c == ' ' || c == '-' ? '_'
                                   : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return text;
}

/// The model of the catalogue that plan finds by this name; empty: none, or a file.
std::string model_named(const std::string& name) {
  std::error_code failed;
  if (std::filesystem::is_regular_file(name, failed)) return {};
  const auto known = app::catalogue();
  if (!known.ok()) return {};
  const auto model = find_model(**known, name);
  return model.ok() ? model->name : std::string();
}

Result<Component> find(const std::string& name) {
  FORETRACE_TRY(const std::vector<Component> all, app::components(""));
  std::vector<std::string_view> names;
  std::vector<std::string> meant = {name, spelled(name)};
  for (const Result<std::string>& word : {app::what_if_named(name), app::accelerator_named(name)}) {
    if (word.ok()) meant.push_back(*word);
  }
  if (const std::string model = model_named(name); !model.empty()) meant.push_back(model);
  for (const std::string& one : meant) {
    const auto found = std::find_if(all.begin(), all.end(), [&one](const Component& component) {
      return component.name == one;
    });
    if (found != all.end()) return *found;
  }
  for (const Component& component : all) names.push_back(component.name);
  if (const std::string schema = schema_of_file(name); schema.starts_with("foretrace.")) {
    const std::string_view kind = trace::formats::kind_of_own(schema);
    return Error{ErrorCode::bad_usage,
                 fmt::format("explain: {} contains {}, expected a name{}", name, schema,
                             kind.empty() ? "" : fmt::format(" (it is {})", kind))};
  }
  return Error{ErrorCode::not_found,
               fmt::format("explain: unknown name '{}'{}; foretrace list shows all", name,
                           did_you_mean(name, names))};
}

app::Exit run(const CLI::App& root, const Options& options) {
  const Result<Component> found = find(options.name);
  if (!found.ok()) {
    const std::string option = app::option_page(root, options.name, app::text_style());
    if (!option.empty() && options.common.json) {
      return Error{ErrorCode::unsupported,
                   fmt::format("explain: '{}' is an option, which is explained as text alone, "
                               "expected no --json",
                               options.name)};
    }
    if (!option.empty()) return app::answer(option);
  }
  FORETRACE_TRY(const Component component, found);
  if (options.common.json) {
    const Result<nlohmann::ordered_json> described = app::describe(component);
    FORETRACE_TRY(described);
    return app::answer(described->dump(2) + "\n");
  }
  if (options.common.quiet) return app::answer(component.summary + "\n");
  const Result<std::string> text = app::explanation(component, app::text_style());
  FORETRACE_TRY(text);
  return app::answer(*text);
}

std::function<app::Exit()> setup(app::Arguments& cli) {
  const auto options = std::make_shared<Options>();
  cli.add_option("NAME", options->name,
                 "a what-if, a policy, an accelerator, a format, a word of an answer, or an option "
                 "without its dashes")
      .required();
  app::add_common(cli, options->common);
  cli.add_examples(
      {{"foretrace explain mixed_precision",
        "its paper, what it changes in the graph, and when not to trust it"},
       {"foretrace explain unexplained", "what a word of an answer means, and what to do about it"},
       {"foretrace explain without-one-off", "what an option does, and which commands have it"}});
  return [options, &cli] { return run(cli.program(), *options); };
}

}  // namespace

extern constexpr CommandInfo info = {"explain", app::Group::names,
                                     "explain a what-if (paper, assumptions, parameters), a "
                                     "policy, an accelerator, a format, a word "
                                     "of an answer, or an option",
                                     setup};

}  // namespace foretrace::commands::explain_parts
