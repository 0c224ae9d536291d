// What a step draws, with details: of the recording, and of a prediction beside it.
#include "apps/driver/energy.h"

#include <optional>
#include <string>

#include <fmt/format.h>

#include "apps/report/pages.h"
#include "apps/report/sections/energy.h"

namespace foretrace::report::sections {
namespace {

std::optional<Energy> energy_in(const driver::Recording& recording,
                                const std::optional<Accelerator>& accelerator,
                                const TaskGraph& graph, const driver::Run& run,
                                const driver::Analysis& analysis) {
  if (!accelerator) return std::nullopt;
  return driver::step_energy(recording.catalogue(), *accelerator, graph, run.answer.step_ns,
                             analysis.breakdown.compute_ns);
}

}  // namespace

Sections energy(const ResultAnswer& answer) {
  Sections sections;
  const driver::Recording& recording = answer.recording;
  const auto now = energy_in(recording, recording.accelerator, recording.graph(), answer.replay.run,
                             answer.baseline);
  if (now) sections.push_back(energy_section("baseline", "energy", *now));
  if (answer.prediction == nullptr || answer.predicted == nullptr) return sections;
  const auto& device =
      answer.prediction->accelerator ? answer.prediction->accelerator : recording.accelerator;
  const auto then = energy_in(recording, device, answer.prediction->graph, answer.prediction->run,
                              *answer.predicted);
  if (then) sections.push_back(energy_section("predicted", "energy predicted", *then));
  return sections;
}

}  // namespace foretrace::report::sections
