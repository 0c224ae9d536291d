#include "apps/web/http.h"

#include <string>

#include <doctest/doctest.h>

namespace foretrace::serve {
namespace {

const std::string get = "GET / HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n";

int status_of(const std::string& bytes) {
  const Parsed parsed = parse_request(bytes);
  if (std::holds_alternative<Incomplete>(parsed)) return 0;
  const auto* const response = std::get_if<Response>(&parsed);
  return response == nullptr ? 200 : response->status;
}

TEST_CASE("http: a request is its method, target, headers and body") {
  const Parsed parsed = parse_request(
      "POST /api/point HTTP/1.1\r\nHost: localhost:9\r\nContent-Length: 3\r\nX-A:  b c "
      "\r\n\r\n{}\n");
  const auto* const request = std::get_if<Request>(&parsed);
  REQUIRE(request != nullptr);
  CHECK(request->method == "POST");
  CHECK(request->target == "/api/point");
  CHECK(*request->header("host") == "localhost:9");
  CHECK(*request->header("x-a") == "b c");
  CHECK(request->body == "{}\n");
}

TEST_CASE("http: a header that comes twice is none") {
  const Parsed parsed = parse_request("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");
  const auto* const request = std::get_if<Request>(&parsed);
  REQUIRE(request != nullptr);
  CHECK(request->header("host") == nullptr);
  CHECK(request->count("host") == 2);
}

TEST_CASE("http: every begin of a request waits for the rest of it") {
  const std::string whole = "POST /x HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}";
  const std::size_t head = whole.size() - 2;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const Parsed parsed = parse_request(whole.substr(0, i));
    REQUIRE(std::holds_alternative<Incomplete>(parsed));
    // known once the head is whole
    CHECK(std::get<Incomplete>(parsed).wanted == (i < head ? 0 : whole.size()));
  }
  CHECK(status_of(whole) == 200);
}

TEST_CASE("http: a body is as large as its head may have, and no larger") {
  const BodyLimit limit = [](const Request& head) {
    return head.target == "/large" && head.header("x-key") != nullptr ? std::size_t{200'000} : 10;
  };
  const auto status = [&](const std::string& head, std::size_t bytes) {
    const std::string whole =
        head + "Content-Length: " + std::to_string(bytes) + "\r\n\r\n" + std::string(bytes, 'x');
    const Parsed parsed = parse_request(whole, limit);
    const auto* const refused = std::get_if<Response>(&parsed);
    const auto* const request = std::get_if<Request>(&parsed);
    CHECK((request == nullptr || request->body.size() == bytes));
    return refused != nullptr ? refused->status : request != nullptr ? 200 : 0;
  };
  CHECK(status("POST /large HTTP/1.1\r\nX-Key: 1\r\n", 200'000) == 200);
  CHECK(status("POST /large HTTP/1.1\r\nX-Key: 1\r\n", 200'001) == 413);
  CHECK(status("POST /large HTTP/1.1\r\n", 11) == 413);
  CHECK(status("POST /other HTTP/1.1\r\nX-Key: 1\r\n", 11) == 413);
  CHECK(status("POST /other HTTP/1.1\r\nX-Key: 1\r\n", 10) == 200);
  // refused by its head, before a byte of the body came
  const Parsed early =
      parse_request("POST /other HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", limit);
  CHECK(std::holds_alternative<Response>(early));
}

TEST_CASE("http: what is no request, too long or in a way that is not spoken here is refused") {
  CHECK(status_of(get) == 200);
  CHECK(status_of("\r\n\r\n") == 400);
  CHECK(status_of("GET\r\n\r\n") == 400);
  CHECK(status_of("GET  HTTP/1.1\r\n\r\n") == 400);
  CHECK(status_of("GET http://evil/ HTTP/1.1\r\n\r\n") == 400);
  CHECK(status_of("GET /a b HTTP/1.1\r\n\r\n") == 400);
  CHECK(status_of("GET /\x01 HTTP/1.1\r\n\r\n") == 400);
  CHECK(status_of("GET / HTTP/2\r\n\r\n") == 505);
  CHECK(status_of("GET / HTTP/1.1\r\nno colon\r\n\r\n") == 400);
  CHECK(status_of("GET / HTTP/1.1\r\nA: b\r\n continued\r\n\r\n") == 400);
  CHECK(status_of("GET / HTTP/1.1\r\nA : b\r\n\r\n") == 400);
  CHECK(status_of("GET / HTTP/1.1\r\nA: b\nB: c\r\n\r\n") == 400);
  CHECK(status_of("GET /" + std::string(3000, 'a') + " HTTP/1.1\r\n\r\n") == 414);
  CHECK(status_of("GET / HTTP/1.1\r\nA: " + std::string(20'000, 'a')) == 431);
  CHECK(status_of("POST / HTTP/1.1\r\n\r\n") == 411);
  CHECK(status_of("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n") == 501);
  CHECK(status_of("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n") == 400);
  CHECK(status_of("POST / HTTP/1.1\r\nContent-Length: 1, 2\r\n\r\n") == 400);
  CHECK(status_of("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n") == 400);
  CHECK(status_of("POST / HTTP/1.1\r\nContent-Length: 65537\r\n\r\n") == 413);
  CHECK(status_of("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n") == 400);
  CHECK(status_of("POST / HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}") == 400);
  CHECK(status_of("POST / HTTP/1.1\r\nContent-Length: 18446744073709551615\r\n\r\n") == 413);
}

TEST_CASE("http: any bytes are a request, the begin of one, or refused") {
  std::uint32_t state = 1;
  const std::string alphabet = "GETPOS /HTP1.\r\n\r\n: 0aContent-Length\xFF\t";
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = i % 2 == 0 ? "GET / HTTP/1.1\r\n" : "";
    for (int k = 0; k < 60; ++k) {
      state = state * 1664525U + 1013904223U;
      bytes += alphabet[(state >> 16U) % alphabet.size()];
    }
    const int status = status_of(bytes);
    CHECK((status == 0 || status == 200 || (status >= 400 && status < 600)));
  }
}

TEST_CASE("http: a response says how long it is, and that nobody may keep, frame or guess it") {
  const std::string bytes = bytes_of({.status = 404, .body = "{}"});
  CHECK(bytes.starts_with("HTTP/1.1 404 Not Found\r\n"));
  CHECK(bytes.ends_with("\r\n\r\n{}"));
  for (const char* const line :
       {"Content-Length: 2\r\n", "Connection: close\r\n", "Cache-Control: no-store\r\n",
        "X-Content-Type-Options: nosniff\r\n", "X-Frame-Options: DENY\r\n",
        "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"}) {
    CHECK(bytes.find(line) != std::string::npos);
  }
  CHECK(bytes.find("Access-Control") == std::string::npos);
}

}  // namespace
}  // namespace foretrace::serve
