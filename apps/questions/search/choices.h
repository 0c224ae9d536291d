// Settings of what-ifs that searches combine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/whatifs/what_if_spec.h"
#include "sim/core/result.h"

namespace foretrace {

/// A setting of a what-if.
struct WhatIfChoice {
  const WhatIfInfo* info = nullptr;
  /// As --apply takes them; more than one where another what-if goes with the setting.
  std::vector<std::string> texts;
  std::vector<WhatIf> parts;
};

enum class TriedSettings : std::uint8_t {
  defaults,        ///< where every parameter has one
  also_for_memory  ///< and those that a what-if declares for memory
};
/// Every setting of what is no formula, earlier stages first.
[[nodiscard]] Result<std::vector<WhatIfChoice>> all_choices(TriedSettings settings);

/// Another setting of what is in `stack` already, or in conflict with it, is no choice.
[[nodiscard]] bool meets_stack(const WhatIfChoice& choice, std::span<const WhatIf> stack);

/// A stack and choices as numbered steps: for_each_stack() takes them.
class ChoiceSteps {
 public:
  ChoiceSteps(std::span<const WhatIf> stack, std::span<const WhatIfChoice> choices);
  [[nodiscard]] std::span<const WhatIf> steps() const { return steps_; }
  /// The stack and the parts of these choices, in the order in which they are applied.
  [[nodiscard]] std::vector<std::size_t> path_of(std::span<const std::size_t> choices) const;
  [[nodiscard]] std::vector<WhatIf> what_ifs_of(std::span<const std::size_t> choices) const;

 private:
  std::size_t stack_size_ = 0;
  std::vector<WhatIf> steps_;
  std::vector<std::size_t>
      first_step_;  ///< per choice: number of its first part; one more at the end
};

}  // namespace foretrace
