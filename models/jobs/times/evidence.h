// What is known of steps like one that is predicted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/catalogue/evidence.h"
#include "models/jobs/times/framework.h"
#include "models/jobs/workloads/transformer.h"

namespace foretrace {

[[nodiscard]] MeasuredKind measured_kind(const TransformerSpec& model, Pass pass);

/// What the framework's file states of its own steps, else what the evidence says; nothing for a
/// file that stands alone and states nothing.
[[nodiscard]] std::optional<EvidenceRange> evidence_range(const Framework& framework,
                                                          MeasuredKind kind,
                                                          std::string_view accelerator,
                                                          std::uint32_t ranks);

/// Programs of the catalogue whose steps of a kind were measured on an accelerator, the best known
/// first.
[[nodiscard]] std::vector<std::string> measured_on(const Framework& framework, MeasuredKind kind,
                                                   std::string_view accelerator);

}  // namespace foretrace
