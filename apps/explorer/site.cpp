#include "apps/explorer/site.h"

#include <charconv>
#include <cstddef>
#include <optional>
#include <system_error>
#include <utility>

namespace foretrace::explorer {
namespace {

using serve::refusal;
using serve::Response;

constexpr std::string_view carries_json = "application/json";
constexpr std::string_view calls = "/api/";

struct Call {
  std::size_t run = 0;
  std::string_view what;
};

/// "/api/2/point".
std::optional<Call> call_of(std::string_view target) {
  target.remove_prefix(calls.size());
  const std::size_t slash = target.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view digits = target.substr(0, slash);
  Call call{0, target.substr(slash + 1)};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), call.run);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return call;
}

}  // namespace

Response Site::answer(const serve::Request& request, const serve::Guard& guard) const {
  const bool is_call = request.target.starts_with(calls);
  if (auto refused = serve::refused(request, guard, is_call)) return *std::move(refused);
  if (is_call) return call(request);
  if (request.method != "GET") return refusal(405, "expected GET");
  if (request.target == "/") {
    return {.type = "text/html; charset=utf-8", .body = shell_.html, .policy = shell_.policy};
  }
  if (request.target == "/favicon.ico") return {.status = 204};
  return refusal(404, "there is one page here, at /");
}

Response Site::call(const serve::Request& request) const {
  if (request.method != "POST") return refusal(405, "expected POST");
  const std::string* const type = request.header("content-type");
  if (type == nullptr || *type != carries_json) return refusal(415, "expected application/json");
  const std::optional<Call> asked = call_of(request.target);
  if (!asked) return refusal(404, "no such call");
  if (asked->run >= runs_.size()) return refusal(404, "no such run");
  return runs_[asked->run]->answer(asked->what, request.body);
}

}  // namespace foretrace::explorer
