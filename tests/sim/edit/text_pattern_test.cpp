#include "sim/edit/text_pattern.h"

#include <array>
#include <cstddef>
#include <optional>
#include <random>
#include <regex>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "sim/core/utf8.h"

using foretrace::ErrorCode;
using foretrace::selecting::TextPattern;

namespace {

bool found(std::string_view expression, std::string_view text) {
  const auto pattern = TextPattern::compile(expression);
  REQUIRE_MESSAGE(pattern.ok(), pattern.error().message);
  return pattern->found_in(text);
}

std::string error_of(std::string_view expression) {
  const auto pattern = TextPattern::compile(expression);
  REQUIRE_FALSE(pattern.ok());
  CHECK(pattern.error().code == ErrorCode::bad_usage);
  return pattern.error().message;
}

// Going back takes exponential time; breadth-first matching is an extension.
#if defined(__GLIBCXX__)
constexpr auto reference_syntax = std::regex::ECMAScript | std::regex_constants::__polynomial;
#else
constexpr auto reference_syntax = std::regex::ECMAScript;
#endif

/// ECMAScript expressions of all kinds that have a meaning in both engines, and short texts.
class RandomExpression {
 public:
  explicit RandomExpression(std::uint32_t seed) : random_(seed) {}

  std::string expression(int depth) {
    std::string text;
    for (std::size_t terms = below(4); terms > 0; --terms) text += term(depth);
    return below(5) == 0 ? text + "|" + expression(depth) : text;
  }
  std::string text() {
    std::string made;
    for (std::size_t parts = below(9); parts > 0; --parts) {
      made += one_of(std::array{"a", "b", "c",        "_", "1", " ", "-", "\n", "\r", "\v", "\t",
                                ".", "*", "\xc3\xa9", "]", "}", "z", "Q", "A",  "p",  ":",  "="});
    }
    if (below(20) == 0) made += '\0';
    return made;
  }

 private:
  std::size_t below(std::size_t end) { return random_() % end; }
  template <std::size_t count>
  const char* one_of(const std::array<const char*, count>& list) {
    return list.at(below(count));
  }

  std::string term(int depth) {
    if (below(8) == 0) return one_of(std::array{"^", "$", R"(\b)", R"(\B)"});
    std::string text = atom(depth);
    while (below(3) == 0) {
      text += one_of(
          std::array{"*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,}", "{0}", "{2}?"});
    }
    return text;
  }
  std::string atom(int depth) {
    switch (below(depth > 0 ? 8 : 5)) {
      case 0:
        return one_of(std::array{"a", "b", "_", "1", " ", "-", ":", "\xc3\xa9", "]", "}", "\n"});
      case 1: return one_of(std::array{"a", "ab", "abc"});
      case 2: return ".";
      case 3:
        return one_of(std::array{R"(\d)", R"(\D)",   R"(\w)",     R"(\W)", R"(\s)", R"(\S)",
                                 R"(\.)", R"(\*)",   R"(\n)",     R"(\r)", R"(\v)", R"(\t)",
                                 R"(\f)", R"(\x62)", R"(\u0061)", R"(\0)", R"(\a)", R"(\z)",
                                 R"(\A)", R"(\Q)",   R"(\_)",     R"(\-)", R"(\/)", R"(\p)",
                                 R"(\C)", R"(\e)",   "\\\xc3"});
      case 4: return brackets();
      case 5: return "(" + expression(depth - 1) + ")";
      case 6: return "(?:" + expression(depth - 1) + ")";
      default: return "(" + expression(depth - 1) + "|" + expression(depth - 1) + ")";
    }
  }
  std::string brackets() {
    std::string text = below(4) == 0 ? "[^" : "[";
    for (std::size_t parts = below(4); parts > 0; --parts) {
      text += one_of(std::array{
          "a",     "b",     "_",         "a-c",       "0-9",       R"(\d)",   R"(\w)", R"(\s)",
          R"(\S)", R"(\D)", "[:alpha:]", "[:space:]", "[:punct:]", ".",       "*",     R"(\])",
          R"(\\)", R"(\b)", R"(\n)",     R"(\x61)",   R"(\u0062)", "^",       "$",     R"(\-)",
          "[",     R"(\/)", R"(\0)",     "|",         "(",         "\xc3\xa9"});
    }
    return text + "]";
  }

  std::mt19937 random_;
};

}  // namespace

TEST_CASE("text_pattern: random ECMAScript expressions find what the standard library finds") {
  std::size_t tried = 0;
  std::size_t hits = 0;
  for (std::uint32_t seed = 0; seed < 600; ++seed) {
    RandomExpression random(seed);
    const std::string expression = random.expression(2);
    std::optional<std::regex> reference;
    try {
      reference.emplace(expression, reference_syntax);
    } catch (const std::regex_error&) {
      continue;  // a range between brackets that is none
    }
    const auto pattern = TextPattern::compile(expression);
    REQUIRE_MESSAGE(pattern.ok(), pattern.error().message);
    for (int i = 0; i < 20; ++i) {
      const std::string text = random.text();
      const bool expected = std::regex_search(text, *reference);
      REQUIRE_MESSAGE(pattern->found_in(text) == expected,
                      seed << ": '" << expression << "' in '" << text << "'");
      ++tried;
      hits += expected ? 1 : 0;
    }
  }
  CHECK(tried > 10'000);
  CHECK(hits > tried / 4);
  CHECK(hits < tried * 3 / 4);
}

TEST_CASE("text_pattern: names of kernels, with and without case, from either end") {
  CHECK(found("gemm|nccl", "ncclDevKernel_AllReduce"));
  CHECK_FALSE(found("gemm|nccl", "SGEMM"));
  CHECK(found("[Gg][Ee]mm", "volta_sGemm_128x64"));
  CHECK(found("^volta_.*_[0-9]{3}x\\d+$", "volta_sgemm_128x64"));
  CHECK_FALSE(found("^gemm", "sgemm"));
  CHECK(found("\\bmm\\b", "aten::mm"));
  CHECK_FALSE(found("\\bmm\\b", "aten::addmm"));
  CHECK(found("<float, *\\(\\w+\\)?.+?>", "void reduce<float, (Op)1>()"));
  CHECK(found("", ""));
  CHECK_FALSE(TextPattern().found_in("nothing compiled finds nothing"));
}

TEST_CASE("text_pattern: what only this engine lacks is named") {
  constexpr std::string_view behind =
      ", expected an expression without look-around, back references and collating elements";
  CHECK(error_of("gemm(?=_fp16)") ==
        "'gemm(?=_fp16)' has the look-ahead '(?='" + std::string(behind));
  CHECK(error_of("(?!nccl)") == "'(?!nccl)' has the look-ahead '(?!'" + std::string(behind));
  CHECK(error_of("(?<=s)gemm") == "'(?<=s)gemm' has the look-behind '(?<='" + std::string(behind));
  CHECK(error_of("(?<!s)gemm") == "'(?<!s)gemm' has the look-behind '(?<!'" + std::string(behind));
  CHECK(error_of(R"((a)\1)") == R"('(a)\1' has the back reference '\1')" + std::string(behind));
  CHECK(error_of("[[.a.]]") == "'[[.a.]]' has the collating element '[.'" + std::string(behind));
}

TEST_CASE("text_pattern: mistakes are told in the words of the expression") {
  CHECK(error_of("a.(") == "'a.(' is not a regular expression (missing ))");
  CHECK(error_of(".[z-a]") ==
        "'.[z-a]' is not a regular expression (invalid character class range: z-a)");
  CHECK(error_of("(?i)gemm") ==
        "'(?i)gemm' is not a regular expression (got '(?i', expected '(' or '(?:')");
  CHECK(error_of("a{,3}") ==
        "'a{,3}' is not a regular expression (got '{,3}', expected a count such as {2}, {2,} or "
        "{2,5})");
  for (const char* expression : {"*", "a|*", "(", ")", "[", "[^", "[a", "\\", "a{", "a{2", "a{3,2}",
                                 "{2}", "(?", "(?#", "\\x4", "\\u2", "\\c", "[[:word"}) {
    CHECK(error_of(expression).find(" is not a regular expression (") != std::string::npos);
  }
}

TEST_CASE("text_pattern: a mistake is one line of UTF-8 whatever the bytes") {
  CHECK(error_of("[z\n") == R"('[z\x0a' is not a regular expression (missing ]))");
  constexpr std::string_view bytes(
      "[](){}?*+\\^-:=.\n\r\0\t\xce\xff"
      "az19",
      25);
  std::mt19937 random(11);
  int mistakes = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string expression;
    for (auto left = 1 + random() % 12; left > 0; --left) {
      expression += bytes[random() % bytes.size()];
    }
    const auto pattern = TextPattern::compile(expression);
    if (pattern.ok()) continue;
    ++mistakes;
    const std::string& message = pattern.error().message;
    CAPTURE(message);
    CHECK(message == foretrace::on_one_line(message));
  }
  CHECK(mistakes > 1000);
}

TEST_CASE("text_pattern: repetition and length are bounded") {
  CHECK(found("^(a{10}){100}$", std::string(1000, 'a')));
  CHECK(error_of("(a{255}){255}") ==
        "'(a{255}){255}' repeats too often, expected counts that multiply to at most 1000");
  CHECK(error_of("a{1001}").find("repeats too often") != std::string::npos);
  CHECK(error_of("a{2,99999999999999999999}").find("repeats too often") != std::string::npos);
  CHECK(error_of(std::string(1001, 'a')).find("expected at most 1000") != std::string::npos);
  // Deep, and rewritten at every step.
  CHECK(found("^" + std::string(499, '(') + "a" + std::string(499, ')'), "a"));
  CHECK(found("a" + std::string(999, '*'), "b"));
  CHECK(error_of("(" + std::string(999, '+')).find("is not a") != std::string::npos);
}

TEST_CASE("text_pattern: time grows with the text, whatever the expression") {
  // 10^12 steps for who goes back or begins at every character anew.
  const std::string text(1'000'000, 'a');
  for (const char* expression : {"(a*)*b", "^(a*)*b", "(a|a)*b", "(a|aa)+$b", "(.*)*.*=.*",
                                 "(a+)+\\bb", "a*a*a*a*a*a*b", "((a{1,30})*){1,30}b"}) {
    CHECK_FALSE(found(expression, text));
  }
  CHECK(found("a.*b$", text + "b"));
}
