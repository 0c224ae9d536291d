// A small JSON Schema checker: as much of the 2020-12 draft as our schemas use.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace foretrace::test {

/// Every violation as "pointer: what"; empty if the document is valid. Knows type, const, enum,
/// required, properties, additionalProperties, items, minimum, allOf, anyOf and local $ref; any
/// other keyword that restricts is a violation of its own, so that nothing is skipped in silence.
[[nodiscard]] std::vector<std::string> violations(const nlohmann::json& schema,
                                                  const nlohmann::json& document);

/// Reads configs/schemas/<name>.
[[nodiscard]] nlohmann::json read_schema(const std::string& name);

}  // namespace foretrace::test
