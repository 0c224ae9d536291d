// Scenario: a model, how it is spread, the framework and the cluster, read from one JSON file.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/networks/cluster.h"
#include "models/jobs/program/graphs/unfolded_graph.h"
#include "models/jobs/program/job.h"
#include "models/jobs/times/framework.h"
#include "models/jobs/workloads/model_spec.h"
#include "sim/core/config.h"
#include "sim/core/result.h"

namespace foretrace {

/// A job with all that it points to.
struct Scenario {
  std::string path;
  std::vector<std::string> files;  ///< of what it names by a file: a model, a cluster, a framework
  std::shared_ptr<const ModelSpec> model;
  std::shared_ptr<const Cluster> cluster;
  std::shared_ptr<const Framework> framework;
  Job job;
  /// Every rank is simulated for itself, with times that scatter; without it ranks that do the same
  /// are simulated once.
  std::optional<Jitter> jitter;
  /// JSON text of what is to be changed about the step, as read_what_ifs() takes it; empty: nothing.
  std::string what_ifs;
};

inline constexpr std::string_view scenario_schema = "foretrace.scenario/1";

/// True if the file begins like a scenario; it is not parsed.
[[nodiscard]] bool is_scenario_file(const std::string& path);

/// Errors read "<file>: /pointer: what, got X, expected Y" with the nearest valid name.
[[nodiscard]] Result<Scenario> read_scenario(const Catalogue& catalogue, const std::string& path);
/// The same for commands that compute one rank for all that do the same, and passes rather than
/// operators. Errors: check_ranks_alike(), check_without_what_ifs().
[[nodiscard]] Result<Scenario> read_scenario_of_alike_ranks(const Catalogue& catalogue,
                                                            const std::string& path);
/// Error: the scenario has jitter, which makes each rank take its own time.
[[nodiscard]] Status check_ranks_alike(const Scenario& scenario);
/// Error: the scenario has what-ifs, which act on operators.
[[nodiscard]] Status check_without_what_ifs(const Scenario& scenario);
[[nodiscard]] Result<Scenario> parse_scenario(const Catalogue& catalogue, std::string_view text,
                                              const std::string& where);

template <typename Part>
using NamedParts = std::map<std::string, std::shared_ptr<const Part>, std::less<>>;
/// What scenarios name, each read once: for many scenarios in a row. Not thread-safe.
struct ScenarioParts {
  NamedParts<ModelSpec> models{};
  NamedParts<ModelSpec> inline_models{};  ///< by their text
  NamedParts<Cluster> clusters{};
  NamedParts<Cluster> accelerators{};  ///< each alone
  NamedParts<Cluster> changed{};       ///< with an execution model of the scenario
  NamedParts<Framework> frameworks{};
};
/// The scenario of a document that is parsed already, before complete_scenario(): mistakes of the
/// file, not of the plan.
[[nodiscard]] Result<Scenario> scenario_of(const Catalogue& catalogue, const ConfigValue& document,
                                           const std::string& where, ScenarioParts& parts);

/// Vocabulary padded, pointers set, plan and amounts checked: what a table reader calls after it
/// filled in the parts. For many scenarios in a row: ScenarioCompletion.
[[nodiscard]] Result<Scenario> complete_scenario(Scenario scenario);

}  // namespace foretrace
