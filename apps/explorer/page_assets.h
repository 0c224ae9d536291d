// The sources of the page, as the build compiled them in: apps/explorer/page.
#pragma once

#include <string_view>

namespace foretrace::explorer {

[[nodiscard]] std::string_view page_template();  ///< page.html, with @NAMES@ to fill in
[[nodiscard]] std::string_view page_style();
[[nodiscard]] std::string_view docs_style();    ///< of the documentation, in the same colours
[[nodiscard]] std::string_view page_script();   ///< of runs, comparisons and scenarios
[[nodiscard]] std::string_view sweep_script();  ///< of sweeps, which simulate nothing

}  // namespace foretrace::explorer
