// Everything with a name that `list` shows and `explain` explains.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "apps/report/text.h"
#include "sim/core/result.h"

namespace foretrace::app {

/// One kind of component.
struct Kind {
  std::string_view name;     ///< "optimizations"
  std::string_view summary;  ///< what takes them
};
[[nodiscard]] std::vector<Kind> kinds();

struct Component {
  std::string_view kind;
  std::string name;
  std::string summary;
};
/// Components of a kind, sorted by name; every kind if it is empty. Errors name the nearest kind.
[[nodiscard]] Result<std::vector<Component>> components(std::string_view kind);

/// All that is known about one component: name, summary, paper, assumptions, parameters, ...
[[nodiscard]] Result<nlohmann::ordered_json> describe(const Component& component);
/// The same as a page of text.
[[nodiscard]] Result<std::string> explanation(const Component& component,
                                              const report::TextStyle& style);

}  // namespace foretrace::app
