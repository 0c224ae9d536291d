// How many experts the tokens of a step reach.
#pragma once

#include "models/jobs/workloads/model_spec.h"

namespace foretrace {

/// Experts that at least one of so many tokens visits, on average: E (1 - (1 - k/E)^T) with k of E
/// each where loads are equal. Training balances them; in inference they follow
/// ExpertSpec::load_exponent. From top_k (of one token) to all.
[[nodiscard]] double reached_experts(const ExpertSpec& experts, double tokens, bool is_balanced);

}  // namespace foretrace
