#include "apps/session/changed_job.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "apps/session/recording/modelled.h"
#include "apps/session/what_if_stack.h"

namespace foretrace {

Result<std::optional<ChangedJob>> changed_job(const Recording& recording,
                                              std::span<const WhatIf> stack) {
  if (recording.modelled == nullptr) return std::optional<ChangedJob>{};
  ChangedJob changed;
  Scenario scenario = *recording.modelled->scenario;
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
  changed.samples = scenario.job.global_batch / recording.modelled->scenario->job.global_batch;
  FORETRACE_TRY(changed.recording, modelled_recording(scenario));
  changed.recording.known = std::move(known);
  for (Applied& one : changed.applied) one.tasks_changed = changed.recording.graph().size();
  return std::optional(std::move(changed));
}

}  // namespace foretrace
