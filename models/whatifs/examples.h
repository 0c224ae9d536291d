// The settings that ship with a what-if, for those that have no defaults.
#pragma once

#include <string>

#include "models/hardware/catalogue/catalogue.h"
#include "models/whatifs/what_if.h"
#include "models/whatifs/what_if_spec.h"
#include "sim/core/result.h"

namespace foretrace {

struct Example {
  WhatIf what_if;
  std::string settings;  ///< "factor=2,batch=32"; empty: its defaults
};
/// Of configs/optimizations, or its defaults where there is no such file.
[[nodiscard]] Result<Example> example_of(const Catalogue& catalogue, const WhatIfInfo& info);

}  // namespace foretrace
