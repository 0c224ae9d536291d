#include "apps/driver/sweep/evaluate.h"

#include <fstream>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "tests/apps/support/program.h"

namespace foretrace::sweeping {
namespace {

std::string digest_of(std::initializer_list<std::string_view> pieces) {
  Digest digest;
  for (const std::string_view piece : pieces) digest.add(piece);
  return digest.text();
}

}  // namespace

TEST_CASE("sweep digest: one bit, one zero byte or another cut between pieces is another text") {
  const std::string zeros(3, '\0');
  const std::set<std::string> all = {digest_of({}),
                                     digest_of({""}),
                                     digest_of({"", ""}),
                                     digest_of({"abcdefghi"}),
                                     digest_of({"abcdefghj"}),
                                     digest_of({"abcdefgh", "i"}),
                                     digest_of({"abcdefg", "hi"}),
                                     digest_of({zeros}),
                                     digest_of({zeros + '\0'}),
                                     digest_of({"ab"}),
                                     digest_of({"ba"}),
                                     digest_of({"a", "b"})};
  CHECK(all.size() == 12);
  CHECK(digest_of({"abc", "d"}) == digest_of({"abc", "d"}));
  CHECK(digest_of({"x"}).size() == 32);
}

TEST_CASE("sweep digest: swapped words are another text") {
  const std::string one = "12345678";
  const std::string two = "87654321";
  CHECK(digest_of({one + two}) != digest_of({two + one}));
  CHECK(digest_of({one, two}) != digest_of({two, one}));
}

TEST_CASE("sweep digest: of a file it is what the file holds, whatever its name") {
  const std::string a = test::scratch_file("digest_a");
  const std::string b = test::scratch_file("digest_b");
  std::ofstream(a) << "same";
  std::ofstream(b) << "same";
  const auto of_file = [](const std::string& path) {
    Digest digest;
    REQUIRE(digest.add_file(path).ok());
    return digest.text();
  };
  CHECK(of_file(a) == of_file(b));
  std::ofstream(b) << "Same";
  CHECK(of_file(a) != of_file(b));
  Digest digest;
  const Status missing = digest.add_file(test::scratch_file("digest_missing"));
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().message.find("cannot read") == 0);
}

}  // namespace foretrace::sweeping
