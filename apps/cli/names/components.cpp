// Everything with a name.
#include "apps/cli/names/components.h"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/cli/names/accelerator_page.h"
#include "apps/cli/names/configs.h"
#include "apps/cli/names/glossary.h"
#include "apps/report/text.h"
#include "apps/scheduling/placements/placement.h"
#include "apps/scheduling/policies/scheduler_info.h"
#include "apps/serving/engine.h"
#include "models/hardware/catalogue/catalogue.h"
#include "models/hardware/execution/exec_model.h"
#include "models/hardware/networks/cluster.h"
#include "models/jobs/times/framework.h"
#include "models/jobs/workloads/model_spec.h"
#include "models/policies/eviction/policy.h"
#include "models/whatifs/how_to.h"
#include "models/whatifs/what_if.h"
#include "models/whatifs/what_if_spec.h"
#include "sim/core/params.h"
#include "sim/core/text.h"
#include "trace/formats/reader.h"
#include "trace/formats/writer.h"

namespace foretrace::app {
namespace {

using Json = nlohmann::ordered_json;
using scheduling::PlacementInfo;
using scheduling::SchedulerInfo;

// Headings of an explanation stand in a column of this width.
constexpr std::size_t heading_width = 12;

std::string heading(std::string_view text) { return fmt::format("{:<{}}", text, heading_width); }

std::string bullets(std::string_view title, std::span<const std::string_view> items,
                    std::size_t width) {
  std::string out;
  for (const std::string_view item : items) {
    out += report::paragraph(heading(out.empty() ? title : "") + "- ", item, width);
  }
  return out;
}

/// Lines below each other; drawings stay as they are, sentences are wrapped.
std::string block(std::string_view title, std::string_view text, std::size_t width) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::string head = heading(out.empty() ? title : "");
    if (head.size() + line.size() > width) {
      out += report::paragraph(head, line, width);
      continue;
    }
    std::string row = head + std::string(line);
    row.erase(row.find_last_not_of(' ') + 1);
    out += row + "\n";
  }
  return out;
}

Json parameters_json(std::span<const ParamInfo> params) {
  Json list = Json::array();
  for (const ParamInfo& param : params) {
    Json row = {{"name", param.name},
                {"unit", param.unit},
                {"default", param.default_text.empty() ? Json(nullptr) : Json(param.default_text)},
                {"doc", param.doc}};
    if (!param.choices.empty()) {
      row["choices"] = param.choices;
    }
    if (!param.optimistic.empty()) {
      row["optimistic"] = param.optimistic;
      row["pessimistic"] = param.pessimistic;
    }
    list.push_back(std::move(row));
  }
  return list;
}

/// The summary, with a word where an answer rests on a formula.
template <typename Info>
std::string summary_of(const Info& info) {
  std::string summary(info.summary);
  if constexpr (requires { info.basis; }) {
    if (info.basis == Basis::formula) summary += " (formula)";
  }
  return summary;
}

/// How to do it, in lines. That they can be read was seen before a component was looked up.
std::vector<std::string> how_to(std::string_view what_if) {
  return how_tos().ok() ? lines_of(*how_tos(), what_if) : std::vector<std::string>();
}

/// Of a what-if or a policy.
template <typename Info>
Json recipe_json(const Info& info) {
  Json object = {{"name", info.name}, {"summary", info.summary}, {"paper", info.paper}};
  object["assumptions"] = std::span<const std::string_view>(info.assumptions);
  object["parameters"] = parameters_json(info.params);
  object["recipe"] = info.recipe;
  object["ignores"] = std::span<const std::string_view>(info.ignores);
  object["calibrate"] = info.calibrate;
  if constexpr (requires { info.conflicts; }) {
    const Identity& same = info.identity;
    object["identity"] = same.setting.empty() ? Json{{"none_because", same.none_because}}
                                              : Json{{"setting", same.setting}};
    object["conflicts"] = info.conflicts;
    object["memory_settings"] = info.memory_settings;
    object["basis"] = to_string(info.basis);
    object["how_to"] = how_to(info.name);
  }
  return object;
}

/// "host_contention=1 (declared range 1.0 to 1.2)".
std::string parameter_head(const ParamInfo& param) {
  std::string head =
      fmt::format("{}{}", param.name,
                  param.default_text.empty()  ? std::string(" (must be given)")
                  : param.default_text == "-" ? std::string(" (may be left out)")
                                              : fmt::format("={}", param.default_text));
  if (!param.choices.empty()) {
    head += fmt::format(" (one of {})", param.choices);
  }
  if (!param.optimistic.empty()) {
    const Result<double> best = parse_quantity(param.optimistic, param.type);
    const Result<double> worst = parse_quantity(param.pessimistic, param.type);
    const bool falls = best.ok() && worst.ok() && *best > *worst;
    head += fmt::format(" (declared range {} to {})", falls ? param.pessimistic : param.optimistic,
                        falls ? param.optimistic : param.pessimistic);
  }
  return head;
}

std::string parameter_rows(std::span<const ParamInfo> params, std::size_t width) {
  std::string out;
  for (const ParamInfo& param : params) {
    out +=
        report::paragraph(heading(out.empty() ? "parameters" : ""), parameter_head(param), width);
    out += report::paragraph(
        std::string(heading_width + 4, ' '),
        param.unit.empty() ? std::string(param.doc) : fmt::format("[{}] {}", param.unit, param.doc),
        width);
  }
  return out;
}

/// The setting with which a run stays as it was recorded; nothing of a policy.
template <typename Info>
std::string identity_text(const Info& info, std::size_t width) {
  if constexpr (requires { info.identity; }) {
    const Identity& same = info.identity;
    std::string text = same.setting.empty() ? fmt::format("with no setting: {}", same.none_because)
                                            : fmt::format("with {}", same.setting);
    if (contains(same.setting, "{")) text += ", that of the recording";
    return report::paragraph(heading("as recorded"), text, width);
  }
  return {};
}

/// With which others a what-if is not tried, and with which settings; nothing of a policy.
template <typename Info>
std::string combination_text(const Info& info, std::size_t width) {
  std::string text;
  if constexpr (requires { info.conflicts; }) {
    if (!info.conflicts.empty()) {
      text += report::paragraph(heading("not with"),
                                fmt::format("{}", fmt::join(info.conflicts, ", ")), width);
    }
    if (!info.memory_settings.empty()) {
      text += report::paragraph(heading("--fit tries"),
                                fmt::format("{}", fmt::join(info.memory_settings, "; ")), width);
    }
  }
  return text;
}

/// That answers rest on a formula, if they do.
template <typename Info>
std::string basis_text(const Info& info, std::size_t width) {
  if constexpr (requires { info.basis; }) {
    if (info.basis == Basis::formula) {
      return report::paragraph(heading("formula"),
                               "selected kernels take a stated share of their time; no kernel is "
                               "modelled from its shape, so rankings leave it out",
                               width) +
             "\n";
    }
  }
  return {};
}

/// How to get a what-if in a framework; nothing of a policy.
template <typename Info>
std::string how_to_text(const Info& info, std::size_t width) {
  std::string text;
  if constexpr (requires { info.conflicts; }) {
    for (const std::string& line : how_to(info.name)) {
      text += report::paragraph(heading(text.empty() ? "how to" : ""), line, width);
    }
  }
  return text.empty() ? text : text + "\n";
}

/// Where a component that no command takes is named.
template <typename Info>
std::string in_a_file(const Info& info) {
  if constexpr (requires { info.change_time; }) {
    return fmt::format(
        "{}\"exec_model\": {{\"{}\": {{...}}}} in an accelerator's file or a scenario\n",
        heading("try"), info.name);
  } else {
    return fmt::format("{}\"placement\": \"{}\" in a schedule file\n", heading("try"), info.name);
  }
}

/// Of a what-if or a policy; `use` is the command that takes it, empty of a placement.
template <typename Info>
std::string recipe_text(const Info& info, std::string_view use, const report::TextStyle& style) {
  std::string required;
  for (const ParamInfo& param : info.params) {
    if (param.default_text.empty()) {
      required += fmt::format("{}{}=...", required.empty() ? ":" : ",", param.name);
    }
  }
  const std::size_t width = style.width;
  return report::paragraph(fmt::format("{}: ", info.name), summary_of(info), width) + "\n" +
         basis_text(info, width) + report::paragraph(heading("paper"), info.paper, width) + "\n" +
         block("changes", info.recipe, width) + "\n" +
         style.strong("Do not trust it where one of these is false:") + "\n" +
         bullets("assumes", info.assumptions, width) + "\n" + style.strong("It leaves out:") +
         "\n" + bullets("ignores", info.ignores, width) + "\n" +
         parameter_rows(info.params, width) + (info.params.empty() ? "" : "\n") +
         report::paragraph(heading("calibrate"), info.calibrate, width) +
         identity_text(info, width) + combination_text(info, width) + "\n" +
         how_to_text(info, width) +
         (use.empty()
              ? in_a_file(info)
              : fmt::format("{}$ foretrace {} {}{}\n", heading("try"), use, info.name, required));
}

/// The one of this name.
template <typename Info>
const Info& called(std::string_view name, std::span<const Info* const> formats) {
  return **std::find_if(formats.begin(), formats.end(),
                        [&](const Info* format) { return format->name == name; });
}

template <typename Info>
Json format_json(const Info& format) {
  return {{"name", format.name}, {"summary", format.summary}, {"suffixes", format.suffixes}};
}

template <typename Info>
std::string format_text(const Info& format, std::string_view use, const report::TextStyle& style) {
  return report::paragraph(fmt::format("{}: ", format.name), format.summary, style.width) +
         fmt::format("\n{}: {}\n", use, format.suffixes);
}

/// All that is asked of one kind of component.
struct Family {
  Kind kind;
  std::function<void(std::vector<Component>&)> add;
  std::function<Result<Json>(const std::string& name)> json;
  std::function<Result<std::string>(const std::string& name, const report::TextStyle&)> text;
};

/// Components that are found at build time.
template <typename Info, typename ToJson, typename ToText>
Family built_in(Kind kind, std::span<const Info* const> all, ToJson to_json, ToText to_text) {
  return {kind,
          [kind, all](std::vector<Component>& found) {
            for (const Info* const info : all) {
              found.push_back({kind.name, std::string(info->name), summary_of(*info)});
            }
          },
          [all, to_json](const std::string& name) { return to_json(called(name, all)); },
          [all, to_text](const std::string& name, const report::TextStyle& style) {
            return to_text(called(name, all), style);
          }};
}

/// Components with a recipe; `use` is the command that takes one.
template <typename Info>
Family recipes(Kind kind, std::span<const Info* const> all, std::string_view use) {
  return built_in(kind, all, recipe_json<Info>,
                  [use](const Info& info, const report::TextStyle& style) {
                    return recipe_text(info, use, style);
                  });
}

template <typename Info>
Family formats(Kind kind, std::span<const Info* const> all, std::string_view use) {
  return built_in(kind, all, format_json<Info>,
                  [use](const Info& info, const report::TextStyle& style) {
                    return format_text(info, use, style);
                  });
}

/// Files of a folder of configs; `for_people` is the field that says in words what one is. A
/// mistake in a file stands where that would.
template <typename Value>
Family files(Kind kind, std::vector<std::string> (*names)(const Catalogue&),
             Result<Value> (*find_in)(const Catalogue&, std::string_view),
             std::string Value::*for_people, std::string_view use) {
  const auto find = [find_in](std::string_view name) -> Result<Value> {
    const Result<CataloguePtr> known = catalogue();
    return known.ok() ? find_in(**known, name) : known.error();
  };
  const auto path_of = [kind](const std::string& name) {
    return fmt::format("{}/{}/{}.json", config_directory(), kind.name, name);
  };
  return {kind,
          [=](std::vector<Component>& found) {
            const Result<CataloguePtr> known = catalogue();
            for (std::string& name : names(known.ok() ? **known : no_catalogue())) {
              const Result<Value> value = find(name);
              found.push_back(
                  {kind.name, name, value.ok() ? *value.*for_people : value.error().message});
            }
          },
          [=](const std::string& name) -> Result<Json> {
            FORETRACE_TRY(const Value value, find(name));
            return Json{{"name", name}, {"summary", value.*for_people}, {"file", path_of(name)}};
          },
          [=](const std::string& name, const report::TextStyle& style) -> Result<std::string> {
            FORETRACE_TRY(const Value value, find(name));
            return report::paragraph(name + ": ", value.*for_people, style.width) +
                   fmt::format(
                       "\nits figures and their sources: {}\n"
                       "in a scenario: \"{}\": \"{}\"\n",
                       path_of(name), use, name);
          }};
}

std::vector<std::string> accelerator_names(const Catalogue& known) {
  return known.accelerator_names();
}
Result<Accelerator> find_accelerator(const Catalogue& known, std::string_view name) {
  const Result<const Accelerator*> found = known.accelerator(name);
  return found.ok() ? Result<Accelerator>(**found) : found.error();
}

Family accelerators() {
  Family family = files({"accelerators", "accelerators for whatif --accelerator"},
                        accelerator_names, find_accelerator, &Accelerator::product, "");
  const auto found = [](const std::string& name) -> Result<const Accelerator*> {
    const Result<CataloguePtr> known = catalogue();
    return known.ok() ? (*known)->accelerator(name) : known.error();
  };
  family.json = [found](const std::string& name) -> Result<Json> {
    const Result<const Accelerator*> accelerator = found(name);
    return accelerator.ok() ? Result<Json>(accelerator_json(**accelerator)) : accelerator.error();
  };
  family.text = [found](const std::string& name,
                        const report::TextStyle& style) -> Result<std::string> {
    const Result<const Accelerator*> accelerator = found(name);
    return accelerator.ok() ? Result<std::string>(accelerator_text(**accelerator, style))
                            : accelerator.error();
  };
  return family;
}

/// Readers of formats; some of which can be written, too.
Family readers() {
  Family family =
      formats<trace::ReaderInfo>({"readers", "trace formats, recognized by their content"},
                                 trace::readers::all(), "usual names");
  family.text = [read = family.text](const std::string& name, const report::TextStyle& style) {
    Result<std::string> text = read(name, style);
    for (const trace::WriterInfo* const writer : trace::writers::all()) {
      if (writer->name == name) {
        *text += fmt::format("convert writes it to names that end in: {}\n", writer->suffixes);
      }
    }
    return text;
  };
  return family;
}

/// Words of answers.
Json word_json(const Word& word) {
  return {{"name", word.name}, {"summary", word.summary}, {"advice", word.advice}};
}

std::string word_text(const Word& word, const report::TextStyle& style) {
  return report::paragraph(fmt::format("{}: ", word.name), word.summary, style.width) + "\n" +
         report::paragraph("", word.advice, style.width);
}

const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      recipes<WhatIfInfo>({"optimizations", "what-ifs for whatif --apply"}, what_ifs::all(),
                          "whatif TRACE --apply"),
      recipes<PolicyInfo>(
          {"policies", "policies for --when-full: how a run stays within a --memory-budget"},
          policies::all(), "simulate TRACE --memory-budget '80 %' --when-full"),
      recipes<SchedulerInfo>(
          {"schedulers", "scheduling policies: which job runs next on a cluster"},
          schedulers::all(), "schedule RUN.json --policy"),
      recipes<PlacementInfo>(
          {"placements", "placements of a schedule file: which accelerators a job gets"},
          placements::all(), ""),
      recipes<ExecModelInfo>({"exec_models",
                              "machines other than GPUs, and their options: \"exec_model\" of an "
                              "accelerator or a scenario"},
                             exec_models::all(), ""),
      accelerators(),
      files({"clusters", "clusters of a scenario, from configs/clusters"}, cluster_names,
            find_cluster, &Cluster::machine, "cluster"),
      files({"models", "models of a scenario, from configs/models"}, model_names, find_model,
            &ModelSpec::product, "model"),
      files({"frameworks", "training frameworks of a scenario, from configs/frameworks"},
            framework_names, find_framework, &Framework::product, "framework"),
      files({"engines", "serving engines of a file of requests, from configs/serving"},
            serving_engine_names, find_serving_engine, &ServingEngine::product, "engine"),
      readers(),
      formats<trace::WriterInfo>(
          {"writers", "trace formats that convert writes, chosen by the name of the file or --to"},
          trace::writers::all(), "written to names that end in"),
      built_in({"words", "words of answers, for explain"}, glossary(), word_json, word_text)};
  return all;
}

const Family& family_of(const Component& component) {
  return *std::find_if(families().begin(), families().end(),
                       [&](const Family& family) { return family.kind.name == component.kind; });
}

}  // namespace

std::vector<Kind> kinds() {
  std::vector<Kind> all;
  for (const Family& family : families()) all.push_back(family.kind);
  return all;
}

Result<std::vector<Component>> components(std::string_view kind) {
  FORETRACE_TRY(catalogue());
  FORETRACE_TRY(how_tos());
  std::vector<std::string_view> names;
  std::vector<Component> found;
  bool known = kind.empty();
  for (const Family& family : families()) {
    names.push_back(family.kind.name);
    if (kind.empty() || family.kind.name == kind) {
      known = true;
      family.add(found);
    }
  }
  if (!known) {
    return Error{ErrorCode::not_found,
                 fmt::format("list: unknown kind '{}', expected one of {}{}", kind,
                             join(names, ", "), did_you_mean(kind, names))};
  }
  return found;
}

Result<Json> describe(const Component& component) {
  return family_of(component).json(component.name);
}

Result<std::string> explanation(const Component& component, const report::TextStyle& style) {
  return family_of(component).text(component.name, style);
}

}  // namespace foretrace::app
