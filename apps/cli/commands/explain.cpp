// foretrace explain: everything about one component, so that its answers can be judged.
#include <algorithm>
#include <cctype>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/cli/arguments/command.h"
#include "apps/cli/arguments/help.h"
#include "apps/cli/names/components.h"
#include "apps/cli/names/names.h"
#include "apps/cli/options.h"
#include "apps/cli/output/answers.h"
#include "apps/cli/output/console.h"
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

Result<Component> find(const std::string& name) {
  FORETRACE_TRY(const std::vector<Component> all, app::components(""));
  std::vector<std::string_view> names;
  std::vector<std::string> meant = {name, spelled(name)};
  for (const Result<std::string>& word : {app::what_if_named(name), app::accelerator_named(name)}) {
    if (word.ok()) meant.push_back(*word);
  }
  for (const Component& component : all) {
    if (std::find(meant.begin(), meant.end(), component.name) != meant.end()) return component;
    names.push_back(component.name);
  }
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

app::Exit run(const Options& options) {
  FORETRACE_TRY(const Component component, find(options.name));
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

void declare(app::Arguments& cli, Options& options) {
  cli.add_option("NAME", options.name,
                 "a what-if, a policy, an accelerator, a format, or a word of an answer")
      .required();
  app::add_common(cli, options.common);
  cli.add_examples({{"foretrace explain mixed_precision",
                     "its paper, what it changes in the graph, and when not to trust it"},
                    {"foretrace explain unexplained",
                     "what a word of an answer means, and what to do about it"}});
}

}  // namespace

extern constexpr CommandInfo info = {
    "explain", app::Group::names,
    "explain a what-if (paper, assumptions, parameters), a policy, an accelerator, a format, or a "
    "word of an answer",
    app::set_up<Options, declare, run>};

}  // namespace foretrace::commands::explain_parts
