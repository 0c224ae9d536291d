// HTTP/1.1 as far as one program on one machine needs it: one request a connection, small bodies.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace foretrace::serve {

/// More than this is refused before it is read.
inline constexpr std::size_t most_head_bytes = std::size_t{16} * 1024;
inline constexpr std::size_t most_body_bytes = std::size_t{64} * 1024;

struct Request {
  std::string method;
  std::string target;                                          ///< begins with '/'; printable ASCII
  std::vector<std::pair<std::string, std::string>> headers{};  ///< names in lower case
  std::string body{};

  /// The value of a header that is there once; nullptr: it is not there, or several times.
  [[nodiscard]] const std::string* header(std::string_view name) const;
  [[nodiscard]] std::size_t count(std::string_view name) const;
};

struct Response {
  int status = 200;
  std::string_view type = "application/json";
  std::string body{};
  std::string policy{};  ///< Content-Security-Policy; empty: nothing may be loaded or run
};

/// {"error": message}.
[[nodiscard]] Response refusal(int status, std::string_view message);

/// What the bytes that came so far are.
/// The begin of a request.
struct Incomplete {
  std::size_t wanted = 0;  ///< bytes of all of it; 0 where its head does not say so yet
};
using Parsed = std::variant<Incomplete, Request, Response>;
/// How large the body of a request may be, by its head; the body is not there yet.
using BodyLimit = std::function<std::size_t(const Request&)>;
/// A whole request, or the refusal of what can become none. Any bytes are safe. `limit`: none is
/// most_body_bytes.
[[nodiscard]] Parsed parse_request(std::string_view bytes, const BodyLimit& limit = {});

/// Status line, headers, body. Nothing is stored, sniffed, framed or shared with other origins.
[[nodiscard]] std::string bytes_of(const Response& response);

}  // namespace foretrace::serve
