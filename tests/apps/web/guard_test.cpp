#include "apps/web/guard.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace foretrace::serve {
namespace {

const Guard guard{4321, "0123456789abcdef"};
using Headers = std::vector<std::pair<std::string, std::string>>;
const Headers own = {{"host", "127.0.0.1:4321"}, {"x-foretrace-token", "0123456789abcdef"}};

bool passes(const Headers& headers, bool needs_token = true) {
  return !refused({.method = "POST", .target = "/", .headers = headers}, guard, needs_token);
}

Headers with(Headers headers, const std::string& name, const std::string& value) {
  for (auto& [key, text] : headers) {
    if (key == name) {
      text = value;
      return headers;
    }
  }
  headers.emplace_back(name, value);
  return headers;
}

TEST_CASE("guard: the page that was served may ask, by either name of this machine") {
  CHECK(passes(own));
  CHECK(passes(with(own, "host", "localhost:4321")));
  CHECK(passes(with(own, "origin", "http://127.0.0.1:4321")));
  CHECK(passes(with(own, "sec-fetch-site", "same-origin")));
}

TEST_CASE("guard: a foreign name of this machine may not: another page may have bound it") {
  for (const char* const host : {"evil.example:4321", "127.0.0.1", "127.0.0.1:4322", "",
                                 "127.0.0.1:4321.evil.example", "[::1]:4321", "localhost.:4321"}) {
    CHECK_MESSAGE(!passes(with(own, "host", host), false), host);
  }
  Headers twice = own;
  twice.emplace_back("host", "127.0.0.1:4321");
  CHECK(!passes(twice));
  CHECK(!passes({{"x-foretrace-token", "0123456789abcdef"}}));
}

TEST_CASE("guard: pages of other origins may not, whatever they know") {
  for (const char* const origin : {"http://evil.example", "null", "https://127.0.0.1:4321",
                                   "http://127.0.0.1:4322", "http://localhost:4321", ""}) {
    CHECK_MESSAGE(!passes(with(own, "origin", origin)), origin);
  }
  for (const char* const site : {"cross-site", "same-site", "none", ""}) {
    CHECK_MESSAGE(!passes(with(own, "sec-fetch-site", site)), site);
  }
  CHECK(passes(with(own, "sec-fetch-site", "none"), false));  // a person opens the address
  CHECK(!passes(with(own, "sec-fetch-site", "cross-site"), false));
}

TEST_CASE("guard: without the token nothing is told") {
  CHECK(!passes({{"host", "127.0.0.1:4321"}}));
  for (const char* const token : {"", "0123456789abcdeF", "0123456789abcde", "0123456789abcdef0"}) {
    CHECK_MESSAGE(!passes(with(own, "x-foretrace-token", token)), token);
  }
  CHECK(passes({{"host", "127.0.0.1:4321"}}, false));  // the page itself holds no data
  const Guard without{4321, ""};
  const Request empty{
      .method = "POST", .target = "/", .headers = with(own, "x-foretrace-token", "")};
  CHECK(refused(empty, without, true));
}

TEST_CASE("guard: tokens have 128 bits and none comes twice") {
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) {
    const Result<std::string> token = make_token();
    REQUIRE(token.ok());
    CHECK(token->size() == 32);
    tokens.insert(*token);
  }
  CHECK(tokens.size() == 100);
}

}  // namespace
}  // namespace foretrace::serve
