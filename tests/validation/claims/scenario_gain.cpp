#include "tests/validation/claims/scenario_gain.h"

#include <algorithm>

#include "models/jobs/figures/scenario_answer.h"
#include "models/jobs/scenario/scenario.h"

namespace foretrace {
namespace {

Result<ScenarioAnswer> answer_text(const Catalogue& catalogue, const std::string& text,
                                   const std::string& where) {
  FORETRACE_TRY(const auto scenario, parse_scenario(catalogue, text, where));
  return answer_scenario(scenario);
}

double step_ratio(std::int64_t before, std::int64_t after) {
  return static_cast<double>(before) / static_cast<double>(std::max<std::int64_t>(1, after));
}

}  // namespace

Result<ScenarioGain> scenario_gain(const Catalogue& catalogue, const std::string& before,
                                   const std::string& after, const std::string& where) {
  FORETRACE_TRY(const auto was, answer_text(catalogue, before, where));
  FORETRACE_TRY(const auto is, answer_text(catalogue, after, where));
  // What a framework takes beside what its file says, it takes in both.
  const RangedStep range = without(is.range, CostSource::framework);
  return ScenarioGain{step_ratio(was.step_ns, is.step_ns), step_ratio(was.step_ns, range.high_ns),
                      step_ratio(was.step_ns, range.low_ns)};
}

}  // namespace foretrace
