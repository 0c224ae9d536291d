// How data travels inside a page: deflated, as base64; scripts and styles are allowed by their
// hash.
#pragma once

#include <string>
#include <string_view>

#include "sim/core/result.h"

namespace foretrace::explorer {

/// RFC 1951, without a header.
[[nodiscard]] Result<std::string> deflated(std::string_view bytes);
/// RFC 4648, with padding.
[[nodiscard]] std::string base64(std::string_view bytes);
/// The 32 bytes of FIPS 180-4.
[[nodiscard]] std::string sha256(std::string_view bytes);
/// "'sha256-...'": how a Content-Security-Policy names a script or a style.
[[nodiscard]] std::string csp_hash(std::string_view text);

}  // namespace foretrace::explorer
