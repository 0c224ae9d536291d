// Federated learning on classes of devices, as users write it (schema foretrace.federated/1).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/extras/federated/rounds.h"
#include "sim/core/result.h"

namespace foretrace {

inline constexpr std::string_view federated_schema = "foretrace.federated/1";

/// A policy of the list, which gets a run of its own.
struct PolicyChoice {
  std::string name;
  federated::RoundPolicy policy;
};

struct FederatedRun {
  std::string path;
  federated::Federation federation;
  std::vector<PolicyChoice> policies;
};

/// Errors name file, JSON pointer, what was got and what is expected.
[[nodiscard]] Result<FederatedRun> read_federated(const std::string& path);
[[nodiscard]] Result<FederatedRun> parse_federated(std::string_view text, const std::string& where);
/// By policy. Errors: the devices are never enough for one of them.
[[nodiscard]] Result<std::vector<federated::RoundFigures>> run_federated(const FederatedRun& run);

}  // namespace foretrace
