// foretrace list: names of what-ifs, policies, accelerators, readers and writers.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/cli/arguments/command.h"
#include "apps/cli/arguments/help.h"
#include "apps/cli/names/components.h"
#include "apps/cli/options.h"
#include "apps/cli/output/answers.h"
#include "apps/cli/output/busy.h"
#include "apps/cli/output/console.h"
#include "apps/questions/search/ranking.h"
#include "apps/report/section.h"
#include "apps/report/text.h"

namespace foretrace::commands::list_parts {
namespace {

using app::Component;
using Json = nlohmann::ordered_json;

struct Options {
  app::CommonOptions common;
  std::string kind;
  std::string trace;
};

/// What-ifs that change something in the trace, with the settings of their examples where they need
/// a value. A rough formula without defaults is taken to apply.
Result<std::vector<Component>> applying(const Options& options) {
  app::TraceOptions trace;
  trace.paths = {options.trace};
  trace.memory_graph = true;
  FORETRACE_TRY(const Session session, app::open_session(trace, options.common));
  const auto ranking = app::while_busy(options.common, "trying every what-if", [&session] {
    return rank_all(session, {.examples = true});
  });
  FORETRACE_TRY(ranking);
  std::set<std::string_view> names;
  for (const Ranked& row : ranking->rows) names.insert(row.info->name);
  for (const Unranked& other : ranking->left_out) {
    if (other.cause != Unranked::Cause::is_formula) continue;
    FORETRACE_TRY(const WhatIfInfo* info, find_what_if(other.name));
    const std::optional<WhatIf> alone = with_defaults(*info);
    if (!alone || session.ask(std::span(&*alone, 1)).ok()) names.insert(other.name);
  }
  FORETRACE_TRY(std::vector<Component> found, app::components("optimizations"));
  std::erase_if(found, [&names](const Component& one) { return !names.contains(one.name); });
  return found;
}

/// The kind that help calls what-ifs.
bool means_what_ifs(std::string_view kind) {
  return kind == "what-ifs" || kind == "what_ifs" || kind == "whatifs" || kind == "whatif";
}

Result<std::vector<Component>> listed(Options options) {
  if (means_what_ifs(options.kind)) options.kind = "optimizations";
  const std::vector<app::Kind> kinds = app::kinds();
  const bool is_kind = std::any_of(kinds.begin(), kinds.end(), [&options](const app::Kind& kind) {
    return kind.name == options.kind;
  });
  if (options.trace.empty() && !is_kind && std::filesystem::exists(options.kind)) {
    options.trace = std::exchange(options.kind, "optimizations");
  }
  if (options.trace.empty()) return app::components(options.kind);
  if (options.kind != "optimizations") {
    return Error{ErrorCode::bad_usage,
                 fmt::format("list: got '{}' with a trace, expected optimizations: the what-ifs "
                             "that apply to it",
                             options.kind)};
  }
  return applying(options);
}

app::Exit print_json(const std::vector<Component>& found, bool kinds_only) {
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
    FORETRACE_TRY(Json described, app::describe(component));
    list.push_back(std::move(described));
  }
  return app::answer(list.dump(2) + "\n");
}

report::Page table_page(const std::vector<Component>& found) {
  report::Table table{.columns = {{"kind"}, {"name"}, {"summary"}}};
  for (const Component& component : found) {
    table.add({report::Value::words(component.kind), report::Value::words(component.name),
               report::Value::words(component.summary)});
  }
  return {.sections = {{.key = "components", .tables = {std::move(table)}}},
          .main_table = "components"};
}

/// One paragraph per name, below its kind.
std::string text(const std::vector<Component>& found, const report::TextStyle& style) {
  std::size_t width = 0;
  for (const Component& component : found) width = std::max(width, component.name.size());
  std::string text;
  for (const app::Kind& kind : app::kinds()) {
    std::string rows;
    for (const Component& component : found) {
      if (component.kind == kind.name) {
        rows += report::paragraph(fmt::format("  {:<{}}  ", component.name, width),
                                  component.summary, style.width);
      }
    }
    if (!rows.empty()) {
      std::string head =
          report::paragraph("", fmt::format("{}: {}", kind.name, kind.summary), style.width);
      head.replace(0, kind.name.size(), style.strong(kind.name));
      text.append(text.empty() ? "" : "\n").append(head).append(rows);
    }
  }
  return text + "\nforetrace explain NAME describes one of them\n";
}

app::Exit run(const Options& options) {
  FORETRACE_TRY(const std::vector<Component> found, listed(options));
  if (options.common.json) return print_json(found, options.kind.empty());
  if (options.common.quiet) {
    std::string names;
    for (const Component& component : found) names += component.name + "\n";
    return app::answer(names);
  }
  if (options.common.csv) return app::answer(table_page(found), options.common);
  return app::answer(text(found, app::text_style(options.common)));
}

void declare(app::Arguments& cli, Options& options) {
  std::string kinds;
  for (const app::Kind& kind : app::kinds()) {
    kinds += fmt::format("{}{}", kinds.empty() ? "" : ", ", kind.name);
  }
  cli.add_option("KIND", options.kind, kinds + "; all if left out");
  cli.add_option("TRACE", options.trace, "only the what-ifs that apply to this trace");
  cli.add_flag("--csv", options.common.csv, "print kind, name and summary as CSV");
  app::add_common(cli, options.common);
  cli.add_examples(
      {{"foretrace list optimizations", "what-ifs and what each does"},
       {"foretrace list trace.json.gz", "only those that apply to the trace"},
       {"foretrace list optimizations --json", "with papers, assumptions and parameters"}});
}

}  // namespace

extern constexpr CommandInfo info = {
    "list", app::Group::names,
    "list what has a name: what-ifs, policies, accelerators, clusters, models, formats",
    app::set_up<Options, declare, run>};

}  // namespace foretrace::commands::list_parts
