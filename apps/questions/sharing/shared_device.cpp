#include "apps/questions/sharing/shared_device.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "models/jobs/scenario/scenario.h"

namespace foretrace {

std::string_view to_string(Sharing sharing) {
  switch (sharing) {
    case Sharing::time_slices: return "time slices";
    case Sharing::mps: return "MPS";
    case Sharing::mig: return "MIG halves";
  }
  return "?";
}

namespace {

/// Of products known by name only, too; false where nothing is known.
bool is_of_nvidia(const std::string& name, const CataloguePtr& catalogue) {
  if (name.starts_with("NVIDIA ")) return true;
  if (catalogue == nullptr || name.empty()) return false;
  const auto found = catalogue->accelerator(name);
  return found.ok() && (*found)->has_cuda_capability();
}

}  // namespace

Result<SharedDevice> shared_device(const std::array<std::string, 2>& paths,
                                   const std::string& accelerator,
                                   const PredictorOptions& options) {
  for (const std::string& path : paths) {
    if (is_scenario_file(path)) {
      return Error{
          ErrorCode::bad_usage,
          fmt::format(
              "{}: contains a scenario, expected a trace: sharing is predicted for recorded runs",
              path)};
    }
  }
  FORETRACE_TRY(auto first, Predictor::load(paths[0], options));
  FORETRACE_TRY(auto second, Predictor::load(paths[1], options));
  const std::array<std::string, 2> recorded = {first.accelerator(), second.accelerator()};
  if (accelerator.empty() && recorded[0] != recorded[1]) {
    const auto named = [](const std::string& name) {
      return name.empty() ? std::string("an unknown device") : name;
    };
    return Error{ErrorCode::bad_usage,
                 fmt::format("{} ran on {} and {} on {}, expected runs of one device, or "
                             "an accelerator to move both to",
                             paths[0], named(recorded[0]), paths[1], named(recorded[1]))};
  }
  const JobPlacement placement{.accelerator = accelerator};
  SharedDevice answer{.paths = paths,
                      .alone = {},
                      .accelerator = accelerator.empty() ? recorded[0] : accelerator,
                      .ways = {},
                      .doubts = {first.doubts(), second.doubts()}};
  answer.has_mps = is_of_nvidia(answer.accelerator, options.catalogue);
  for (std::size_t i = 0; i < 2; ++i) {
    FORETRACE_TRY(answer.alone[i], (i == 0 ? first : second).predict(placement));
  }
  for (const Sharing sharing : {Sharing::time_slices, Sharing::mps, Sharing::mig}) {
    auto runs = Predictor::corun(first, second, sharing, placement);
    if (runs.ok()) {
      answer.ways.push_back({sharing, *runs});
      continue;
    }
    const ErrorCode code = runs.error().code;
    const bool is_left_out =
        sharing == Sharing::mig && (code == ErrorCode::unsupported || code == ErrorCode::no_match);
    if (!is_left_out) return std::move(runs).error();
    answer.without_mig = runs.error().message;
  }
  std::stable_sort(answer.ways.begin(), answer.ways.end(),
                   [](const SharedWay& a, const SharedWay& b) {
                     return a.runs.fits != b.runs.fits ? a.runs.fits : a.together() > b.together();
                   });
  return answer;
}

}  // namespace foretrace
