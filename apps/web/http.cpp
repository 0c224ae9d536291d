#include "apps/web/http.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace foretrace::serve {
namespace {

namespace http = boost::beast::http;

constexpr std::size_t most_target_bytes = 2000;

bool is_called(const std::pair<std::string, std::string>& field, std::string_view name) {
  return boost::beast::iequals(field.first, {name.data(), name.size()});
}

std::string_view view_of(boost::beast::string_view text) { return {text.data(), text.size()}; }

/// Of what Beast refuses.
Response refusal_of(boost::beast::error_code error, std::string_view bytes, std::size_t most) {
  const std::string_view line = bytes.substr(0, bytes.find("\r\n"));
  const bool is_spoken = line.ends_with(" HTTP/1.1") || line.ends_with(" HTTP/1.0");
  if (error == http::error::header_limit) return refusal(431, "the head is too long");
  if (error == http::error::bad_method) return refusal(400, "this is no HTTP request");
  if (error == http::error::bad_version && !is_spoken) return refusal(505, "expected HTTP/1.1");
  if (error == http::error::bad_version || error == http::error::bad_target) {
    return refusal(400, "expected an address that begins with '/'");
  }
  if (error == http::error::bad_transfer_encoding) {
    return refusal(501, "expected a Content-Length instead of a Transfer-Encoding");
  }
  if (error == http::error::bad_content_length) {
    return refusal(400, "expected one Content-Length, a number");
  }
  if (error == http::error::bad_value) {
    return refusal(400, "expected printable ASCII in every header");
  }
  if (error == http::error::body_limit) {
    return refusal(413, fmt::format("expected at most {} bytes", most));
  }
  return refusal(400, "expected 'Name: value' in every header");
}

/// Of what Beast takes, and this server does not.
std::optional<Response> refusal_of(const Request& request, bool has_length) {
  if (request.target.size() > most_target_bytes) return refusal(414, "the address is too long");
  const auto is_printable = [](char c) { return c > ' ' && c <= '~'; };
  if (request.target.front() != '/' ||
      !std::all_of(request.target.begin(), request.target.end(), is_printable)) {
    return refusal(400, "expected an address that begins with '/'");
  }
  const auto is_text = [](char c) { return c == '\t' || (c >= ' ' && c != 0x7F); };
  for (const auto& [name, value] : request.headers) {
    if (!std::all_of(value.begin(), value.end(), is_text)) {
      return refusal(400, "expected printable ASCII in every header");
    }
  }
  if (request.count("transfer-encoding") > 0) {
    return refusal(501, "expected a Content-Length instead of a Transfer-Encoding");
  }
  if (request.count("content-length") > 1) {
    return refusal(400, "expected one Content-Length, a number");
  }
  if (request.method == "POST" && !has_length) return refusal(411, "expected a Content-Length");
  return std::nullopt;
}

/// All but the body.
template <typename Message>
Request head_in(const Message& found) {
  Request request{std::string(view_of(found.method_string())),
                  std::string(view_of(found.target()))};
  for (const auto& field : found) {
    request.headers.emplace_back(view_of(field.name_string()), view_of(field.value()));
  }
  return request;
}

/// The head of a request; nothing of one that is not whole, or is none.
Request head_of(std::string_view bytes) {
  const std::size_t end = bytes.substr(0, most_head_bytes).find("\r\n\r\n");
  if (end == std::string_view::npos) return {};
  http::request_parser<http::empty_body> parser;
  parser.header_limit(most_head_bytes);
  parser.body_limit(std::numeric_limits<std::uint64_t>::max());  // none would be 0 here
  boost::beast::error_code error;
  parser.put(boost::asio::buffer(bytes.data(), end + 4), error);
  return parser.is_header_done() ? head_in(parser.get()) : Request{};
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
                                  [&](const auto& each) { return is_called(each, name); });
  return &found->second;
}

std::size_t Request::count(std::string_view name) const {
  return static_cast<std::size_t>(std::count_if(
      headers.begin(), headers.end(), [&](const auto& each) { return is_called(each, name); }));
}

Response refusal(int status, std::string_view message) {
  const nlohmann::json body = {{"error", message}};
  return {.status = status,
          .body = body.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)};
}

Parsed parse_request(std::string_view bytes, const BodyLimit& limit) {
  const std::size_t most = limit ? limit(head_of(bytes)) : most_body_bytes;
  http::request_parser<http::string_body> parser;
  parser.eager(true);
  parser.header_limit(most_head_bytes);
  parser.body_limit(most);
  boost::beast::error_code error;
  parser.put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  if (error && error != http::error::need_more) return refusal_of(error, bytes, most);
  if (!parser.is_header_done()) return Incomplete{};
  const std::size_t head = bytes.find("\r\n\r\n") + 4;
  // Beast joins lines that continue the one before, which is obsolete.
  const std::string_view lines = bytes.substr(0, head);
  if (lines.find("\r\n ") < head || lines.find("\r\n\t") < head) {
    return refusal(400, "expected 'Name: value' in every header");
  }
  auto& found = parser.get();
  Request request = head_in(found);
  const auto length = parser.content_length();
  if (auto refused = refusal_of(request, length.has_value())) return *std::move(refused);
  if (!parser.is_done()) return Incomplete{head + static_cast<std::size_t>(*length)};
  request.body = std::move(found.body());
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
