#include "apps/explorer/docs.h"

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

namespace foretrace::explorer {
namespace {

serve::Response asked(const Docs& docs, const std::string& target,
                      const std::string& method = "GET") {
  return docs.answer({.method = method, .target = target, .headers = {{"host", "127.0.0.1:80"}}},
                     {.port = 80});
}

}  // namespace

TEST_CASE("docs: every link between pages leads to one, and every picture is there") {
  const auto docs = Docs::read(FORETRACE_SOURCE_DIR "/examples");
  REQUIRE(docs.ok());
  CHECK(asked(*docs, "/").body.find("<h1 id=\"examples\">") != std::string::npos);
  std::size_t links = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(FORETRACE_SOURCE_DIR "/examples")) {
    if (entry.path().extension() != ".md") continue;
    const std::filesystem::path path =
        "/" + entry.path().lexically_relative(FORETRACE_SOURCE_DIR "/examples").generic_string();
    const serve::Response page = asked(*docs, path.generic_string());
    REQUIRE(page.status == 200);
    for (const std::string mark : {"href=\"", "src=\""}) {
      for (std::size_t at = page.body.find(mark); at != std::string::npos;
           at = page.body.find(mark, at + 1)) {
        const std::size_t from = at + mark.size();
        std::string to = page.body.substr(from, page.body.find('"', from) - from);
        to = to.substr(0, to.find('#'));
        const std::string suffix = std::filesystem::path(to).extension().string();
        if (to.starts_with("https://") || (suffix != ".md" && suffix != ".svg" && suffix != ".png"))
          continue;
        const auto target = (path.parent_path() / to).lexically_normal();
        if (target.generic_string().find("..") != std::string::npos || to.find("../../") == 0)
          continue;  // a page of the sources, beside examples/
        ++links;
        CAPTURE(path.generic_string());
        CAPTURE(to);
        CHECK(asked(*docs, target.generic_string()).status == 200);
      }
    }
  }
  CHECK(links > 50);
}

TEST_CASE("docs: only pages and pictures of the folder, only to read") {
  const auto docs = Docs::read(FORETRACE_SOURCE_DIR "/examples");
  REQUIRE(docs.ok());
  CHECK(asked(*docs, "/timeline.svg").type == "image/svg+xml");
  for (const std::string target :
       {"/../README.md", "/traces/make_demo_trace.py", "/nothing.md", "//etc/passwd", "/recipes"}) {
    CHECK(asked(*docs, target).status == 404);
  }
  CHECK(asked(*docs, "/", "POST").status == 405);
  CHECK(docs->answer({.method = "GET", .target = "/", .headers = {{"host", "elsewhere:80"}}},
                     {.port = 80})
            .status == 403);
  CHECK_FALSE(Docs::read(FORETRACE_SOURCE_DIR "/configs/schemas").ok());
}

}  // namespace foretrace::explorer
