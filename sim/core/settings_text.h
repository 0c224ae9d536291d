// A component with its parameters as people write it: "NAME[:key=value,...]".
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/core/result.h"

namespace foretrace {

/// Names and texts of parameters, in the order given.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// A component and its parameters as they were written: nothing is checked but the grammar.
struct NamedSettings {
  std::string name;
  Settings parameters;
};

/// "scale:select='kind=kernel&name~gemm',factor=0.5". A value that holds , & ~ : = ' or spaces
/// stands in '...'; a quote inside is doubled. Errors begin with `kind` ("what-if") and the text,
/// and give the position.
[[nodiscard]] Result<NamedSettings> parse_named_settings(std::string_view kind,
                                                         std::string_view text);

/// The same as it is written.
[[nodiscard]] std::string text_of(const NamedSettings& settings);

}  // namespace foretrace
