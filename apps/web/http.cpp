#include "apps/web/http.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace foretrace::serve {
namespace {

constexpr std::size_t most_target_bytes = 2000;

bool is_printable(char c) { return c > ' ' && c <= '~'; }
/// What a field name or a method is made of (RFC 9110, section 5.6.2).
bool is_token(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), fits);
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// "METHOD /target HTTP/1.1".
std::optional<Response> read_request_line(std::string_view line, Request& request) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last || !is_token(line.substr(0, first))) {
    return refusal(400, "this is no HTTP request");
  }
  const std::string_view version = line.substr(last + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    return refusal(505, "expected HTTP/1.1");
  }
  request.method = line.substr(0, first);
  request.target = line.substr(first + 1, last - first - 1);
  if (request.target.size() > most_target_bytes) return refusal(414, "the address is too long");
  if (request.target.empty() || request.target.front() != '/' ||
      !std::all_of(request.target.begin(), request.target.end(), is_printable)) {
    return refusal(400, "expected an address that begins with '/'");
  }
  return std::nullopt;
}

/// "Name: value"; a line that continues the one before is obsolete and refused.
std::optional<Response> read_field(std::string_view line, Request& request) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
    return refusal(400, "expected 'Name: value' in every header");
  }
  const std::string_view value = trimmed(line.substr(colon + 1));
  const auto is_text = [](char c) { return c == '\t' || (c >= ' ' && c != 0x7F); };
  if (!std::all_of(value.begin(), value.end(), is_text)) {
    return refusal(400, "expected printable ASCII in every header");
  }
  request.headers.emplace_back(lower(line.substr(0, colon)), value);
  return std::nullopt;
}

std::optional<Response> read_head(std::string_view head, Request& request) {
  bool is_first = true;
  while (is_first || !head.empty()) {
    const std::size_t end = head.find("\r\n");
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(end == std::string_view::npos ? head.size() : end + 2);
    std::optional<Response> refused =
        is_first ? read_request_line(line, request) : read_field(line, request);
    if (refused) return refused;
    is_first = false;
  }
  return std::nullopt;
}

/// How many bytes follow the head.
std::variant<std::size_t, Response> body_length(const Request& request) {
  if (request.count("transfer-encoding") > 0) {
    return refusal(501, "expected a Content-Length instead of a Transfer-Encoding");
  }
  const std::size_t given = request.count("content-length");
  if (given == 0 && request.method == "POST") return refusal(411, "expected a Content-Length");
  if (given == 0) return std::size_t{0};
  const std::string* const text = request.header("content-length");
  std::size_t length = 0;
  const bool is_number =
      text != nullptr && !text->empty() &&
      std::all_of(text->begin(), text->end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number) return refusal(400, "expected one Content-Length, a number");
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), length);
  if (error != std::errc() || length > most_body_bytes) {
    return refusal(413, fmt::format("expected at most {} bytes", most_body_bytes));
  }
  return length;
}

std::string_view reason_of(int status) {
  switch (status) {
    case 200: return "OK";
    case 204: return "No Content";
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 411: return "Length Required";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 422: return "Unprocessable Content";
    case 431: return "Request Header Fields Too Large";
    case 501: return "Not Implemented";
    case 505: return "HTTP Version Not Supported";
    default: return "Internal Server Error";
  }
}

}  // namespace

const std::string* Request::header(std::string_view name) const {
  if (count(name) != 1) return nullptr;
  const auto found = std::find_if(headers.begin(), headers.end(),
                                  [&](const auto& each) { return each.first == name; });
  return &found->second;
}

std::size_t Request::count(std::string_view name) const {
  return static_cast<std::size_t>(std::count_if(
      headers.begin(), headers.end(), [&](const auto& each) { return each.first == name; }));
}

Response refusal(int status, std::string_view message) {
  const nlohmann::json body = {{"error", message}};
  return {.status = status,
          .body = body.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)};
}

Parsed parse_request(std::string_view bytes) {
  constexpr std::string_view end_of_head = "\r\n\r\n";
  const std::size_t end = bytes.substr(0, most_head_bytes).find(end_of_head);
  if (end == std::string_view::npos) {
    if (bytes.size() >= most_head_bytes) return refusal(431, "the head is too long");
    return Incomplete{};
  }
  Request request;
  if (const auto refused = read_head(bytes.substr(0, end), request)) return *refused;
  const auto length = body_length(request);
  if (const auto* const refused = std::get_if<Response>(&length)) return *refused;
  const std::string_view body = bytes.substr(end + end_of_head.size());
  const std::size_t wanted = std::get<std::size_t>(length);
  if (body.size() < wanted) return Incomplete{end + end_of_head.size() + wanted};
  request.body = body.substr(0, wanted);
  return request;
}

std::string bytes_of(const Response& response) {
  const std::string_view policy = response.policy.empty()
                                      ? "default-src 'none'; frame-ancestors 'none'"
                                      : std::string_view(response.policy);
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n"
      "Cache-Control: no-store\r\nContent-Security-Policy: {}\r\nX-Content-Type-Options: "
      "nosniff\r\n"
      "X-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n"
      "Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Resource-Policy: same-origin\r\n"
      "\r\n{}",
      response.status, reason_of(response.status), response.type, response.body.size(), policy,
      response.body);
}

}  // namespace foretrace::serve
