// Pieces of HTML and blocks of data become one file.
#pragma once

#include <string>
#include <string_view>

#include "apps/explorer/page.h"
#include "sim/core/result.h"

namespace foretrace::explorer {

/// Data as a page holds it: deflated, then base64.
[[nodiscard]] Result<std::string> block_of(std::string_view bytes);

/// The page with its data, its own sources and their policy. Places without a piece stay empty.
[[nodiscard]] std::string one_file(Pieces pieces, const BlockMap& blocks, std::string_view version);

}  // namespace foretrace::explorer
