#include "apps/session/changed_job.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "apps/session/recording/modelled.h"
#include "apps/session/what_if_stack.h"

namespace foretrace {

Result<std::vector<WhatIf>> what_ifs_of(const Scenario& scenario) {
  if (scenario.what_ifs.empty()) return std::vector<WhatIf>{};
  const std::string where = fmt::format("{}: /what_ifs", scenario.path);
  FORETRACE_TRY(const auto specs, parse_what_ifs_json(scenario.what_ifs, where));
  return check_stack(specs).with_context(where);
}

namespace {

/// What the scenario has had already would be done to its own results.
Status check_once(std::span<const WhatIf> own, std::span<const WhatIf> stack) {
  const auto selects = [](const WhatIf& what_if) {
    return std::any_of(what_if.info->params.begin(), what_if.info->params.end(),
                       [](const ParamInfo& row) { return row.name == "select"; });
  };
  for (const WhatIf& one : own) {
    for (const WhatIf& other : stack) {
      const bool is_same = one.info == other.info && !selects(one);
      if (!is_same && !in_conflict(*one.info, *other.info)) continue;
      return Error{
          ErrorCode::bad_usage,
          fmt::format("{}: the scenario has {} among its what-ifs already, expected one of "
                      "the two",
                      other.info->name, one.info->name)};
    }
  }
  return ok_status();
}

}  // namespace

Result<std::optional<ChangedJob>> changed_job(const Recording& recording,
                                              std::span<const WhatIf> stack) {
  if (recording.modelled == nullptr) return std::optional<ChangedJob>{};
  ChangedJob changed;
  Scenario scenario = *recording.modelled->scenario;
  FORETRACE_TRY(auto own, what_ifs_of(scenario));
  FORETRACE_TRY(check_once(own, stack));
  CataloguePtr known = recording.known;
  for (const WhatIf& what_if : in_order(stack)) {
    std::optional<std::string> note;
    if (what_if.info->change_job != nullptr) {
      FORETRACE_TRY(add_files_of(what_if, known).with_context(what_if.info->name));
      const WhatIfInput input{recording.graph(),
                              recording.accelerator ? &*recording.accelerator : nullptr,
                              known ? *known : no_catalogue()};
      FORETRACE_TRY(note, what_if.info->change_job(input, what_if.parameters, scenario)
                              .with_context(what_if.info->name));
    }
    if (!note) {
      changed.others.push_back(what_if);
      continue;
    }
    changed.applied.push_back({.info = what_if.info,
                               .parameters = what_if.parameters.texts(),
                               .notes = {*std::move(note)},
                               .doubts = {}});
  }
  if (changed.applied.empty()) return std::optional<ChangedJob>{};
  // Those of the scenario, which its graph has had already, act on the new one.
  changed.others.insert(changed.others.begin(), own.begin(), own.end());
  changed.samples = scenario.job.global_batch / recording.modelled->scenario->job.global_batch;
  FORETRACE_TRY(changed.recording, modelled_recording(scenario));
  changed.recording.known = std::move(known);
  for (Applied& one : changed.applied) one.tasks_changed = changed.recording.graph().size();
  return std::optional(std::move(changed));
}

}  // namespace foretrace
