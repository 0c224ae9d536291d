#include "apps/explorer/served/site.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

namespace foretrace::explorer {
namespace {

using serve::refusal;
using serve::Response;

constexpr std::string_view carries_json = "application/json";
constexpr std::string_view carries_bytes = "application/octet-stream";
constexpr std::string_view calls = "/api/";
constexpr std::string_view adds = "/api/add";
constexpr std::string_view name_header = "x-foretrace-name";
constexpr std::size_t longest_name = 100;

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

/// The last part of a path, with nothing in it that a path, a shell or a page could take for more.
std::string plain_name(std::string_view name) {
  const std::size_t slash = name.find_last_of("/\\");
  if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
  std::string plain(name.substr(name.size() - std::min(name.size(), longest_name)));
  for (char& c : plain) {
    const bool is_kept = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-';
    if (!is_kept) c = '_';
  }
  if (plain.empty() || plain.front() == '.' || plain.front() == '-') plain.insert(0, "_");
  return plain;
}

bool is_adding(const serve::Request& request) {
  return request.method == "POST" && request.target == adds;
}

}  // namespace

std::size_t Site::body_limit(const serve::Request& head, const serve::Guard& guard) {
  const bool may_add = is_adding(head) && !serve::refused(head, guard, true);
  return may_add ? most_recording_bytes : serve::most_body_bytes;
}

Response Site::answer(const serve::Request& request, const serve::Guard& guard) {
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

std::vector<std::string> Site::names() {
  const std::lock_guard lock(listing_);
  std::vector<std::string> names;
  for (const SiteRun& run : runs_) names.push_back(run.name);
  return names;
}

Response Site::add(const serve::Request& request) {
  const std::string* const type = request.header("content-type");
  if (type == nullptr || *type != carries_bytes) {
    return refusal(415, "expected application/octet-stream");
  }
  const std::string* const given = request.header(name_header);
  if (given == nullptr || request.body.empty()) return refusal(400, "expected a named file");
  const std::lock_guard lock(adding_);
  std::vector<std::string> all = names();
  if (all.size() >= most_runs) {
    return refusal(422, "this server shows as many runs as it can; start another");
  }
  const std::string name = plain_name(*given);
  Result<std::shared_ptr<Service>> service = read_(name, request.body);
  if (!service.ok()) return refusal(422, service.error().message);
  all.push_back(name);
  if (const Status ready = (*service)->prepare(all); !ready.ok()) {
    return refusal(422, ready.error().message);
  }
  const std::lock_guard listed(listing_);
  for (const SiteRun& run : runs_) run.service->name_runs(all);
  runs_.push_back({name, *std::move(service)});
  return {.body = "{\"run\": " + std::to_string(runs_.size() - 1) + "}"};
}

Response Site::call(const serve::Request& request) {
  if (request.method != "POST") return refusal(405, "expected POST");
  if (is_adding(request)) return add(request);
  const std::string* const type = request.header("content-type");
  if (type == nullptr || *type != carries_json) return refusal(415, "expected application/json");
  const std::optional<Call> asked = call_of(request.target);
  if (!asked) return refusal(404, "no such call");
  std::shared_ptr<Service> service;
  {
    const std::lock_guard lock(listing_);
    if (asked->run >= runs_.size()) return refusal(404, "no such run");
    service = runs_[asked->run].service;
  }
  return service->answer(asked->what, request.body);
}

}  // namespace foretrace::explorer
