#include "apps/explorer/docs/docs.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace foretrace::explorer {
namespace {

serve::Response asked(const Docs& docs, const std::string& target,
                      const std::string& method = "GET") {
  return docs.answer({.method = method, .target = target, .headers = {{"host", "127.0.0.1:80"}}},
                     {.port = 80});
}

}  // namespace

TEST_CASE("docs: every link of every page that can be reached leads to an answer") {
  const auto docs = Docs::read(FORETRACE_SOURCE_DIR "/examples");
  REQUIRE(docs.ok());
  CHECK(asked(*docs, "/").body.find("<h1 id=\"examples\">") != std::string::npos);
  std::set<std::string> met;
  std::vector<std::string> open = {"/"};
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(FORETRACE_SOURCE_DIR "/examples")) {
    if (entry.path().extension() != ".md") continue;
    open.push_back(
        "/" + entry.path().lexically_relative(FORETRACE_SOURCE_DIR "/examples").generic_string());
  }
  std::size_t links = 0;
  while (!open.empty()) {
    const std::string path = open.back();
    open.pop_back();
    if (!met.insert(path).second) continue;
    CAPTURE(path);
    const serve::Response page = asked(*docs, path);
    REQUIRE(page.status == 200);
    if (!page.type.starts_with("text/html")) continue;
    for (const std::string mark : {"href=\"", "src=\""}) {
      for (std::size_t at = page.body.find(mark); at != std::string::npos;
           at = page.body.find(mark, at + 1)) {
        const std::size_t from = at + mark.size();
        std::string to = page.body.substr(from, page.body.find('"', from) - from);
        to = to.substr(0, to.find('#'));
        if (to.empty() || to.starts_with("https://")) continue;
        CAPTURE(to);
        CHECK(to.starts_with('/'));
        ++links;
        open.push_back(to);
      }
    }
  }
  CHECK(links > 100);
  // out of the folder, to pages, source files and folders
  CHECK(met.contains("/beside/tests/validation/README.md"));
  CHECK(met.contains("/beside/apps/public/headers.txt"));
  CHECK(met.contains("/traces/tools"));
  CHECK(met.contains("/traces/tools/record.py"));
  CHECK(asked(*docs, "/traces/tools/record.py").type == "text/plain; charset=utf-8");
}

TEST_CASE("docs: where the folder stands alone, words that would lead out of it are no links") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "foretrace_docs_alone" / "examples";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "README.md") << "# A\n[b](../b.md) [etc](../../../etc/passwd) "
                                         "![c](c.png) [d](d.exe) [here](#a) [one](one.md)\n";
  std::ofstream(folder / "one.md") << "1\n";
  std::ofstream(folder / "d.exe") << "1\n";
  const auto docs = Docs::read(folder.string());
  REQUIRE(docs.ok());
  CHECK(asked(*docs, "/")
            .body.find("<p>b etc c d <a href=\"#a\">here</a> "
                       "<a href=\"/one.md\">one</a></p>") != std::string::npos);
  std::filesystem::remove_all(folder.parent_path());
}

TEST_CASE("docs: only pages and pictures of the folder, only to read") {
  const auto docs = Docs::read(FORETRACE_SOURCE_DIR "/examples");
  REQUIRE(docs.ok());
  CHECK(asked(*docs, "/timeline.svg").type == "image/svg+xml");
  for (const std::string target :
       {"/../README.md", "/traces/make_demo_trace.py", "/beside/Makefile", "/beside/../README.md",
        "/nothing.md", "//etc/passwd", "/recipes"}) {
    CHECK(asked(*docs, target).status == 404);
  }
  CHECK(asked(*docs, "/", "POST").status == 405);
  CHECK(docs->answer({.method = "GET", .target = "/", .headers = {{"host", "elsewhere:80"}}},
                     {.port = 80})
            .status == 403);
  CHECK_FALSE(Docs::read(FORETRACE_SOURCE_DIR "/configs/schemas").ok());
}

}  // namespace foretrace::explorer
