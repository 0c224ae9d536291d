// Random modelled jobs for laws: every field of a scenario's job, on shipped and changed machines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "models/jobs/scenario/complete_scenario.h"
#include "models/jobs/scenario/scenario.h"
#include "models/jobs/scenario/scenario_text.h"

namespace foretrace::test {

/// A valid job. Its models, cluster and framework live as long as the RandomJobs that drew it.
struct RandomJob {
  std::uint64_t number = 0;  ///< what it was drawn by
  std::string text;          ///< the scenario file; changed clusters are known to parsed() alone
  Scenario scenario;         ///< what the file was read to, complete
  ScenarioNames names;       ///< by which parsed() knows model, cluster and framework
};

/// Draws a job by its number: the same one on every machine, whatever was drawn before. Made of
/// shipped models, frameworks, clusters and accelerators; models of random sizes (grouped keys,
/// windows, experts, tied tables, layered ones); clusters whose links have other figures. Never:
/// jitter, and files of other programs.
class RandomJobs {
 public:
  [[nodiscard]] RandomJob draw(std::uint64_t number);
  /// Reads a scenario that may name the models and clusters of drawn jobs.
  [[nodiscard]] Result<Scenario> parsed(const std::string& text);

 private:
  [[nodiscard]] RandomJob named(std::uint64_t number, std::string text, Scenario scenario);

  ScenarioParts parts_;
  ScenarioCompletion completion_;
};

/// How many jobs a law tries: `usual`, or what FORETRACE_LAW_JOBS says (the target `laws` asks for
/// 20,000); one in `cost` of these for a law that does more than look at a job.
[[nodiscard]] std::uint64_t law_jobs(std::uint64_t usual, std::uint64_t cost = 1);

}  // namespace foretrace::test
