#include "apps/explorer/docs/markdown.h"

#include <cstddef>
#include <random>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace foretrace::explorer {

TEST_CASE("markdown: blocks of our pages") {
  CHECK(html_of_markdown("# A *b*\n\nOne\ntwo.\n") ==
        "<h1 id=\"a-b\">A <em>b</em></h1>\n<p>One two.</p>\n");
  CHECK(html_of_markdown("```console\n$ a < b\n```\n") ==
        "<pre tabindex=\"0\"><code>$ a &lt; b\n</code></pre>\n");
  CHECK(html_of_markdown("- a\n  b\n- **c**\n") ==
        "<ul>\n<li>a b</li>\n<li><strong>c</strong></li>\n</ul>\n");
  CHECK(html_of_markdown("1. a\n2. b\n") == "<ol>\n<li>a</li>\n<li>b</li>\n</ol>\n");
  CHECK(html_of_markdown("| x | y |\n| --- | --- |\n| `a|b` | [c](d/e.md) |\n") ==
        "<div class=\"scroll\" tabindex=\"0\"><table>\n<tr><th>x</th><th>y</th></tr>\n"
        "<tr><td><code>a|b</code></td><td><a href=\"d/e.md\">c</a></td></tr>\n</table></div>\n");
  // figures stand below each other; an empty cell is the head of nothing
  CHECK(html_of_markdown("| | y |\n| --- | ---: |\n| a | 1 |\n")
            .find("<tr><td></td><th class=\"number\">y</th></tr>\n"
                  "<tr><td>a</td><td class=\"number\">1</td></tr>") != std::string::npos);
  CHECK(html_of_markdown("[![p](p.svg)](a.md)") ==
        "<p><a href=\"a.md\"><img src=\"p.svg\" alt=\"p\"></a></p>\n");
  CHECK(title_of_markdown("text\n# The title \n# another") == "The title");
}

TEST_CASE("markdown: what is not understood stands as it is, and no address leads elsewhere") {
  CHECK(html_of_markdown("a * b [c] `d") == "<p>a * b [c] `d</p>\n");
  CHECK(html_of_markdown("<script>x</script>") == "<p>&lt;script&gt;x&lt;/script&gt;</p>\n");
  for (const std::string_view address : {"javascript:x", "http://a", "//a", "data:x"}) {
    CHECK(html_of_markdown("[a](" + std::string(address) + ")").find("<a") == std::string::npos);
  }
  CHECK(html_of_markdown("[a](https://a)") == "<p><a href=\"https://a\">a</a></p>\n");
}

TEST_CASE("markdown: any bytes end, and leave no tag of theirs") {
  constexpr std::string_view letters = "#*`[]()!|-:>< \n\n1.aZ\"&\x80\xff";
  std::mt19937_64 random(3);
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (std::size_t n = random() % 60; n > 0; --n) text += letters[random() % letters.size()];
    const std::string html = html_of_markdown(text);
    CAPTURE(text);
    CHECK(html.find("<>") == std::string::npos);
    // As many tags are closed as opened, pictures aside.
    std::ptrdiff_t open = 0;
    for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
      if (html.compare(at, 4, "<img") == 0) continue;
      open += html[at + 1] == '/' ? -1 : 1;
    }
    CHECK(open == 0);
  }
}

}  // namespace foretrace::explorer
