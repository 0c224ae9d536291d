#include "apps/report/svg/canvas.h"

#include <string>

#include <doctest/doctest.h>

using namespace foretrace::svg;

TEST_CASE("canvas: names from traces stay text, whatever they hold") {
  Canvas canvas;
  canvas.text(1, 2, "</text><script>alert(1)</script>", "label");
  canvas.rect({0, 0, 1, 1}, "host", "a \"quoted\" & odd\x01name \xff");
  const std::string picture = canvas.finish(10, 10, "a < b", "");
  CHECK(picture.find("<script>") == std::string::npos);
  CHECK(picture.find("&lt;/text&gt;&lt;script&gt;") != std::string::npos);
  CHECK(picture.find("a &quot;quoted&quot; &amp; odd?name ?") != std::string::npos);
  CHECK(picture.find("<title>a &lt; b</title>") != std::string::npos);
}

TEST_CASE("canvas: coordinates have at most one decimal and a sign") {
  Canvas canvas;
  canvas.line(-0.04, 1.25, 2, -3.46, "grid");
  const std::string picture = canvas.finish(10, 10, "", "");
  CHECK(picture.find(R"(x1="0" y1="1.3" x2="2" y2="-3.5")") != std::string::npos);
}

TEST_CASE("fitted: what is too long ends with an ellipsis and is whole characters") {
  CHECK(fitted("stream 7", 200) == "stream 7");
  const std::string cut = fitted("größe größe größe größe", 72);  // 10 characters
  CHECK(cut == "größe grö…");
}
