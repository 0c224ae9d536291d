// The sources of the page, as the build compiled them in: apps/explorer/page.
#pragma once

#include <string_view>

namespace foretrace::explorer {

[[nodiscard]] std::string_view page_template();  ///< page.html, with @NAMES@ to fill in
[[nodiscard]] std::string_view page_style();
[[nodiscard]] std::string_view page_script();  ///< every module, in the order of their imports

}  // namespace foretrace::explorer
