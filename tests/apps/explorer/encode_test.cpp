#include "apps/explorer/encode.h"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "apps/report/writers.h"

namespace foretrace::explorer {
namespace {

std::string hex(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

TEST_CASE("sha256: the examples of FIPS 180-4, of one block, two blocks and none") {
  CHECK(hex(sha256("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hex(sha256("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")) ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST_CASE("base64: the examples of RFC 4648") {
  CHECK(base64("") == "");
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("foobar") == "Zm9vYmFy");
}

TEST_CASE("html: text of any bytes is text, in elements and in quotes") {
  using report::html_text;
  CHECK(html_text("</script><img onerror=\"x\">") ==
        "&lt;/script&gt;&lt;img onerror=&quot;x&quot;&gt;");
  CHECK(html_text("it's a & b") == "it&#39;s a &amp; b");
  CHECK(html_text("\xFF\xC0\x80") == "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(html_text("a\xE2\x80\xAE"
                  "b") == "a\xEF\xBF\xBD\x62");  // U+202E would turn the rest around
  CHECK(html_text("a\nb\x7F") == "a?b?");
  CHECK(html_text("abcdef", 3) == "abc\xE2\x80\xA6");
  CHECK(html_text("\xC2\xB5s") == "\xC2\xB5s");
}

}  // namespace
}  // namespace foretrace::explorer
