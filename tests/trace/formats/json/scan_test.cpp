#include "trace/formats/json/scan.h"

#include <string>

#include <doctest/doctest.h>

namespace foretrace::trace::formats {
namespace {

// Where a value ends, byte by byte; npos if the text ends first.
std::size_t slow_end(const std::string& text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      at += c == '\\' ? 1 : 0;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    }
    if (depth == 0 && !in_string) {
      return at + 1;
    }
  }
  return std::string::npos;
}

std::size_t fast_end(const std::string& text, bool& ran_out) {
  const std::string padded = text + std::string(scan_padding, '\0');
  Scanner scanner(padded.data() + text.size());
  const char* const behind = scanner.value(padded.data());
  ran_out = scanner.ran_out();
  return behind == nullptr ? std::string::npos : static_cast<std::size_t>(behind - padded.data());
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t below(std::uint64_t bound) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state_ >> 33U) % bound;
  }

 private:
  std::uint64_t state_;
};

}  // namespace

TEST_CASE("scan: nested values end where a byte-by-byte walk ends them") {
  Random random(7);
  std::size_t whole = 0;
  for (int round = 0; round < 30'000; ++round) {
    // Some texts have backslashes and some not: they take different ways.
    const std::string alphabet = round % 2 == 0 ? "[]{}\"a, \\\"" : "[]{}\"ab,:";
    std::string text = random.below(2) == 0 ? "[" : "{";
    for (std::uint64_t i = 0, size = random.below(200); i < size; ++i) {
      text += alphabet[random.below(alphabet.size())];
    }
    bool ran_out = false;
    const std::size_t expected = slow_end(text);
    CHECK_MESSAGE(fast_end(text, ran_out) == expected, text);
    CHECK(ran_out == (expected == std::string::npos));
    whole += expected == std::string::npos ? 0 : 1;
  }
  CHECK(whole > 5'000);
}

TEST_CASE("scan: a letter in an object is noticed while its end is looked for") {
  Random random(11);
  std::size_t with_letter = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = "{\"" + std::string(random.below(150), 'x') + "\":";
    text += random.below(2) == 0 ? "\"a\\\\\"" : "[1]";
    text += std::string(random.below(80), ' ') + "}";
    const bool has_letter = random.below(2) == 0;
    if (has_letter) {
      text[2 + random.below(text.find(':') - 2)] = 'w';
    }
    const std::size_t expected = slow_end(text);
    if (expected == std::string::npos) {
      continue;  // the letter took the place of a quote
    }
    const std::string padded = text + std::string(scan_padding, '\0');
    bool found = false;
    const char* const behind =
        Scanner(padded.data() + text.size()).object(padded.data(), 'w', found);
    REQUIRE(behind != nullptr);
    CHECK(static_cast<std::size_t>(behind - padded.data()) == expected);
    CHECK((found || !has_letter));
    CHECK((!found || has_letter || text.find('\\') != std::string::npos));
    with_letter += has_letter ? 1 : 0;
  }
  CHECK(with_letter > 5'000);
}

TEST_CASE("scan: strings end at the first quote without a backslash, at any distance") {
  for (std::size_t length = 0; length < 100; ++length) {
    for (const std::string end : {"\"", "\\\"x\"", "\\\\\""}) {
      const std::string text = std::string(length, 's') + end;
      const std::string padded = text + ", \"other\"" + std::string(scan_padding, '\0');
      Scanner scanner(padded.data() + padded.size() - scan_padding);
      RawString raw;
      const char* const behind = scanner.string(padded.data(), raw);
      REQUIRE(behind != nullptr);
      CHECK(behind == padded.data() + text.size());
      CHECK(raw.text == text.substr(0, text.size() - 1));
      CHECK(raw.has_escapes == (end.size() > 1));
      CHECK(!raw.beyond_ascii);
    }
  }
}

TEST_CASE("scan: bytes beyond ASCII are noticed inside a string, not behind it") {
  for (std::size_t length = 0; length < 40; ++length) {
    const std::string inside = std::string(length, 's') + "\xC3\xBC\"" + std::string(64, '\0');
    const std::string behind = std::string(length, 's') + "\"\xC3\xBC" + std::string(64, '\0');
    RawString raw;
    CHECK(Scanner(inside.data() + length + 3).string(inside.data(), raw) != nullptr);
    CHECK(raw.beyond_ascii);
    CHECK(Scanner(behind.data() + length + 3).string(behind.data(), raw) != nullptr);
    CHECK(!raw.beyond_ascii);
  }
}

TEST_CASE("scan: too deep is refused, not waited for") {
  for (const bool escapes : {false, true}) {
    const std::string text = std::string(depth_limit + 100, '[') + (escapes ? "\"\\\\\"" : "\"x\"");
    bool ran_out = true;
    CHECK(fast_end(text, ran_out) == std::string::npos);
    CHECK(!ran_out);
  }
}

TEST_CASE("scan: members of an object come one by one, to a good end") {
  const std::string text = R"({"a" : 1, "b":[1, {"c": 2}],"d\"":"x,y" })" + std::string(64, '\0');
  Members members(std::string_view(text).substr(0, text.size() - 64));
  std::string seen;
  while (members.next()) {
    seen += std::string(members.key().text) + "=" + std::string(members.value()) + ";";
  }
  CHECK(members.ok());
  CHECK(seen == R"(a=1;b=[1, {"c": 2}];d\"="x,y";)");
  for (const std::string bad : {"{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}",
                                "[]", "{1:2}", "{\"a\" 1}", ""}) {
    const std::string padded = bad + std::string(64, '\0');
    Members damaged(std::string_view(padded).substr(0, bad.size()));
    while (damaged.next()) {
    }
    CHECK_MESSAGE(!damaged.ok(), bad);
  }
}

}  // namespace foretrace::trace::formats
