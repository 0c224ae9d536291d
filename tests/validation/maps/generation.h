// Prompts and tokens of a served model that a row describes.
#pragma once

#include <string_view>

#include "tests/validation/maps/generation_time.h"
#include "tests/validation/maps/law.h"
#include "tests/validation/tables/tables.h"

namespace foretrace::validation {

/// {"served": {"model": "Llama-2-7b-hf", "cluster": "polaris", "framework": "vllm_2024",
///  "tensor": 2, "pipeline": 1},
///  "request": {"sequences": 4, "prompt": 128, "output": 128}}: sequences that start together.
[[nodiscard]] Result<Scenario> scenario_of_sequences(const ConfigValue& run, TableInputs& inputs);
[[nodiscard]] Result<GenerationTime> predict_generation(const ConfigValue& run,
                                                        TableInputs& inputs);
/// Of its "prompt", "token" or "total".
[[nodiscard]] Result<Law> law_of_sequences(const ConfigValue& run, std::string_view is,
                                           TableInputs& inputs);

}  // namespace foretrace::validation
