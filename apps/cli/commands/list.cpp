// foretrace list: names of optimizations, policies, accelerators, readers and writers.
#include <algorithm>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/cli/catalogue.h"
#include "apps/cli/command.h"
#include "apps/cli/console.h"
#include "apps/cli/help.h"
#include "apps/cli/options.h"
#include "apps/report/style.h"
#include "apps/report/text.h"

namespace foretrace::commands {
namespace {

using app::Component;
using Json = nlohmann::ordered_json;

struct Options {
  app::CommonOptions common;
  std::string kind;
};

int print_json(const std::vector<Component>& found, bool kinds_only) {
  Json list = Json::array();
  if (kinds_only) {
    for (const app::Kind& kind : app::kinds()) {
      Json names = Json::array();
      for (const Component& component : found) {
        if (component.kind == kind.name) {
          names.push_back(component.name);
        }
      }
      list.push_back({{"name", kind.name}, {"summary", kind.summary}, {"members", names}});
    }
    return app::answer(list.dump(2) + "\n");
  }
  for (const Component& component : found) {
    Result<Json> described = app::describe(component);
    if (!described.ok()) {
      return app::failure(described.error());
    }
    list.push_back(*std::move(described));
  }
  return app::answer(list.dump(2) + "\n");
}

int run(const Options& options) {
  app::start_logging(options.common);
  const Result<std::vector<Component>> found = app::components(options.kind);
  if (!found.ok()) {
    return app::failure(found.error());
  }
  if (options.common.json) {
    return print_json(*found, options.kind.empty());
  }
  std::string text;
  if (options.common.quiet) {
    for (const Component& component : *found) {
      text += component.name + "\n";
    }
    return app::answer(text);
  }
  std::size_t width = 0;
  for (const Component& component : *found) {
    width = std::max(width, component.name.size());
  }
  for (const app::Kind& kind : app::kinds()) {
    std::string rows;
    for (const Component& component : *found) {
      if (component.kind == kind.name) {
        rows += app::paragraph(fmt::format("  {:<{}}  ", component.name, width), component.summary);
      }
    }
    if (!rows.empty()) {
      text += (text.empty() ? "" : "\n") + app::strong(kind.name) +
              fmt::format(": {}\n", kind.summary) + rows;
    }
  }
  return app::answer(text + "\nforetrace explain NAME tells all about one of them\n");
}

std::function<int()> setup(app::Arguments& cli) {
  const auto options = std::make_shared<Options>();
  cli.add_option("KIND", options->kind,
                 "optimizations, policies, accelerators, readers or writers; all if left out");
  app::add_common(cli, options->common);
  constexpr app::Example examples[] = {
      {"foretrace list optimizations", "what-ifs and what each does"},
      {"foretrace list optimizations --json", "with papers, assumptions and parameters"}};
  cli.add_examples(examples);
  return [options] { return run(*options); };
}

}  // namespace

extern const CommandInfo list;
const CommandInfo list = {"list", "names of what-ifs, policies, accelerators and trace formats",
                          setup};

}  // namespace foretrace::commands
