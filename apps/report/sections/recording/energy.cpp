// What a step draws, with details: of the recording, and of a prediction beside it.
#include "models/hardware/power/energy.h"

#include <optional>
#include <string>

#include "apps/report/pages/result.h"
#include "apps/report/sections/energy.h"
#include "apps/session/predicted_energy.h"

namespace foretrace::report::sections {

Sections energy(const ResultAnswer& answer) {
  Sections sections;
  const Recording& recording = answer.session.recording();
  if (!recording.accelerator) return sections;
  const Catalogue& known = recording.catalogue();
  const auto now =
      step_energy(known, *recording.accelerator, recording.graph(), answer.session.step_ns(),
                  answer.session.analysis().breakdown.compute_ns);
  if (!now.ok()) return {energy_failure(now.error())};
  if (*now) sections.push_back(energy_section("baseline", "energy", **now));
  if (answer.predicted == nullptr) return sections;
  const auto then = predicted_energy(known, answer.predicted->prediction(),
                                     answer.predicted->analysis().breakdown.compute_ns);
  if (!then.ok()) return {energy_failure(then.error())};
  if (*then) sections.push_back(energy_section("predicted", "energy predicted", **then));
  return sections;
}

}  // namespace foretrace::report::sections
