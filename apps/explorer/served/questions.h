// What a page asks the engine for, out of JSON that nobody has to trust.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/hardware/catalogue/catalogue.h"
#include "models/whatifs/what_if_spec.h"
#include "sim/core/result.h"

namespace foretrace::explorer {

/// {"client": text, "id": number, "stack": [{"name": text, "parameters": {name: text}}]}.
struct Question {
  std::string client;    ///< the page that asks
  std::uint64_t id = 0;  ///< of two questions of a page the larger one counts
  std::vector<WhatIfSpec> specs{};
};
/// Errors name the key.
[[nodiscard]] Result<Question> parse_question(std::string_view body);

/// A page that opens asks for nothing in particular: {}. Errors say what is expected.
[[nodiscard]] Status parse_opening(std::string_view body);

/// The what-ifs, checked, in the order in which they are applied. No question opens a file: a
/// parameter that names one by its path is an error.
[[nodiscard]] Result<std::vector<WhatIf>> checked(const Question& question);

/// What can be asked for: every what-if with its parameters, and the names that they take.
[[nodiscard]] nlohmann::json what_there_is(const Catalogue& catalogue);

}  // namespace foretrace::explorer
