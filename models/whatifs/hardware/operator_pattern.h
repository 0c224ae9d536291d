// Patterns of operators that an accelerator has an instruction for: chains of kernels by name.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/editing/what_if_input.h"
#include "sim/core/result.h"
#include "sim/edit/text_pattern.h"

namespace foretrace {

inline constexpr std::size_t longest_chain = 32;

/// One operator after the other: each expression is found in its name, or in the kernel's where no
/// operator is recorded.
struct OperatorPattern {
  std::string name;
  std::vector<selecting::TextPattern> chain;
};

/// A document of the schema foretrace.offload_patterns/1: by name, by path, or itself.
class OperatorPatterns {
 public:
  [[nodiscard]] static Result<OperatorPatterns> find(const Catalogue& catalogue,
                                                     const std::string& text);

  /// The longest pattern that the names begin with, of equal ones the first listed; null: none.
  /// Behind a match: the next one.
  [[nodiscard]] const OperatorPattern* match(std::span<const std::string_view> names,
                                             const OperatorPattern* behind = nullptr) const;

 private:
  [[nodiscard]] static Result<OperatorPatterns> from(const ConfigValue& document,
                                                     const std::string& where);
  std::vector<OperatorPattern> patterns_;  ///< the longest first
};

}  // namespace foretrace
