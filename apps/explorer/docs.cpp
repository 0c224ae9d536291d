#include "apps/explorer/docs.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "apps/explorer/markdown.h"
#include "apps/report/writers.h"

namespace foretrace::explorer {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view html_type = "text/html; charset=utf-8";
constexpr std::string_view style =
    ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;"
    "margin:2rem auto;padding:0 1rem}pre{overflow-x:auto;padding:.8rem;border:1px solid #8884;"
    "font-size:13px;line-height:1.35}code{font-family:ui-monospace,monospace}"
    ".scroll{overflow-x:auto}table{border-collapse:collapse}th,td{text-align:left;"
    "vertical-align:top;padding:.25rem .8rem .25rem 0;border-bottom:1px solid #8884}"
    "img{max-width:100%}";

/// What a browser is told of it; empty: it is no page and no picture.
std::string_view type_of(const fs::path& path) {
  const std::string suffix = path.extension().string();
  if (suffix == ".md") return html_type;
  if (suffix == ".svg") return "image/svg+xml";
  return suffix == ".png" ? "image/png" : std::string_view();
}

std::string page_of(std::string_view markdown) {
  std::string title = title_of_markdown(markdown);
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\"><title>{}</title>"
      "<style>{}</style></head><body>\n<p><a href=\"/\">all pages</a></p>\n{}</body></html>\n",
      report::html_text(title.empty() ? "Foretrace" : title), style, html_of_markdown(markdown));
}

}  // namespace

Result<Docs> Docs::read(const std::string& folder) {
  constexpr std::uintmax_t most_bytes = 16 << 20;
  Docs docs;
  std::error_code failed;
  const fs::path root(folder);
  for (fs::recursive_directory_iterator at(root, failed), end; !failed && at != end;
       at.increment(failed)) {
    const std::string_view type = type_of(at->path());
    std::error_code unread;
    if (type.empty() || !at->is_regular_file(unread) || at->file_size(unread) > most_bytes) {
      continue;
    }
    std::ifstream file(at->path(), std::ios::binary);
    std::string body{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (type == html_type) body = page_of(body);
    docs.files_["/" + at->path().lexically_relative(root).generic_string()] = {type,
                                                                               std::move(body)};
  }
  if (!docs.files_.contains("/README.md")) {
    return Error{ErrorCode::not_found,
                 fmt::format("{}: no pages in this folder, expected README.md", folder)};
  }
  return docs;
}

serve::Response Docs::answer(const serve::Request& request, const serve::Guard& guard) const {
  if (auto refused = serve::refused(request, guard, false)) return *std::move(refused);
  if (request.method != "GET") return serve::refusal(405, "expected GET");
  std::string path = request.target.substr(0, request.target.find_first_of("?#"));
  if (path == "/favicon.ico") return {.status = 204};
  if (path.ends_with('/')) path += "README.md";
  const auto found = files_.find(path);
  if (found == files_.end()) return serve::refusal(404, "no such page; / lists all pages");
  return {.type = found->second.type,
          .body = found->second.body,
          .policy =
              "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'; base-uri "
              "'none'; form-action 'none'; frame-ancestors 'none'"};
}

}  // namespace foretrace::explorer
