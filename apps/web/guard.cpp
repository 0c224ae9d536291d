#include "apps/web/guard.h"

#include <array>
#include <cerrno>
#include <cstddef>

#include <fmt/format.h>
#include <sys/random.h>

namespace foretrace::serve {
namespace {

/// In a time that says nothing about where they differ.
bool are_equal(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return difference == 0;
}

}  // namespace

Result<std::string> make_token() {
  std::array<unsigned char, 16> bytes{};
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::getrandom(bytes.data() + have, bytes.size() - have, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Error{ErrorCode::io, "serve: the system gives no random numbers"};
    have += static_cast<std::size_t>(got);
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

std::optional<Response> refused(const Request& request, const Guard& guard, bool needs_token) {
  const std::string* const host = request.header("host");
  const std::array<std::string, 2> own = {fmt::format("127.0.0.1:{}", guard.port),
                                          fmt::format("localhost:{}", guard.port)};
  if (host == nullptr || (*host != own[0] && *host != own[1])) {
    return refusal(403, "the Host is none of this server's");
  }
  if (request.count("origin") > 0) {
    const std::string* const origin = request.header("origin");
    if (origin == nullptr || *origin != "http://" + *host) {
      return refusal(403, "Origin header does not match this server");
    }
  }
  if (request.count("sec-fetch-site") > 0) {
    const std::string* const site = request.header("sec-fetch-site");
    // "none": an address that a person opens
    const bool is_own =
        site != nullptr && (*site == "same-origin" || (*site == "none" && !needs_token));
    if (!is_own) return refusal(403, "the request comes from another site");
  }
  if (!needs_token) return std::nullopt;
  const std::string* const token = request.header(token_header);
  if (token == nullptr || guard.token.empty() || !are_equal(*token, guard.token)) {
    return refusal(403, "open the address that foretrace serve printed, with all that follows #");
  }
  return std::nullopt;
}

}  // namespace foretrace::serve
