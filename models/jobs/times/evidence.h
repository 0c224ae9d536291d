// What is known of steps like one that is predicted.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

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

}  // namespace foretrace
