// Who may ask: only a page that this program served, opened with the address that it printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/web/http.h"
#include "sim/core/result.h"

namespace foretrace::serve {

struct Guard {
  std::uint16_t port = 0;
  std::string token{};  ///< travels in the fragment of the address, which no browser sends
};

/// 128 random bits in hexadecimal digits.
[[nodiscard]] Result<std::string> make_token();

/// The header that carries the token.
inline constexpr std::string_view token_header = "x-foretrace-token";

/// Refuses names of this machine that are not its own (a foreign name may lead to 127.0.0.1, too),
/// pages of other origins and, where `needs_token`, requests without the token.
[[nodiscard]] std::optional<Response> refused(const Request& request, const Guard& guard,
                                              bool needs_token);

}  // namespace foretrace::serve
