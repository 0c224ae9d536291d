// Bytes of a client to a request: every begin of it, too, is a request, the begin of one, or refused.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <variant>

#include "apps/web/http.h"

namespace {

using namespace foretrace::serve;

void check(std::string_view bytes) {
  const Parsed parsed = parse_request(bytes);
  if (const auto* const begin = std::get_if<Incomplete>(&parsed)) {
    const bool is_known = begin->wanted > bytes.size();
    if (begin->wanted != 0 && !is_known) std::abort();
    if (begin->wanted > most_head_bytes + most_body_bytes) std::abort();
  } else if (const auto* const refused = std::get_if<Response>(&parsed)) {
    if (refused->status < 400 || bytes_of(*refused).empty()) std::abort();
  } else {
    const Request& request = std::get<Request>(parsed);
    if (request.target.front() != '/' || request.body.size() > most_body_bytes) std::abort();
    if (request.count("content-length") > 1) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes are text here
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check(bytes);
  check(bytes.substr(0, size / 2));
  return 0;
}
