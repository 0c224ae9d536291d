#include "apps/explorer/docs/docs.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/explorer/docs/markdown.h"
#include "apps/explorer/page_assets.h"
#include "apps/report/writers.h"

namespace foretrace::explorer {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view html_type = "text/html; charset=utf-8";
/// What a browser is told of it; empty: it is none of what pages link to.
std::string_view type_of(const fs::path& path) {
  const std::string suffix = path.extension().string();
  if (suffix == ".md") return html_type;
  if (suffix == ".svg") return "image/svg+xml";
  if (suffix == ".png") return "image/png";
  constexpr std::array<std::string_view, 10> sources = {".cpp", ".h",   ".cu",  ".py",  ".json",
                                                        ".csv", ".yml", ".txt", ".log", ".cmake"};
  return std::ranges::find(sources, suffix) != sources.end() ? "text/plain; charset=utf-8"
                                                             : std::string_view();
}

bool is_page_or_picture(std::string_view type) {
  return type == html_type || type.starts_with("image/");
}

std::string page_of(std::string_view title, const std::string& body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>{}</title>"
      "<style>{}</style></head><body>\n<nav><a href=\"/\">all pages</a></nav>\n<main>\n{}</main>"
      "</body></html>\n",
      report::html_text(title.empty() ? "Foretrace" : title), docs_style(), body);
}

}  // namespace

/// Reads the folder, then whatever its pages link to.
class DocsReader {
 public:
  explicit DocsReader(const std::string& folder) {
    std::error_code failed;
    root_ = fs::weakly_canonical(folder, failed);
    if (root_.filename().empty()) root_ = root_.parent_path();
    house_ = root_.parent_path();
  }

  Docs run() {
    std::error_code failed;
    for (fs::recursive_directory_iterator at(root_, failed), end; !failed && at != end;
         at.increment(failed)) {
      if (is_page_or_picture(type_of(at->path()))) address_of(at->path());
    }
    while (!open_.empty()) {
      const fs::path path = std::move(open_.back());
      open_.pop_back();
      read(path);
    }
    return std::move(docs_);
  }

 private:
  /// How it is asked for, and it will be read; empty: it is not there, or nothing to show.
  std::string address_of(const fs::path& path) {
    std::error_code failed;
    const fs::path real = fs::weakly_canonical(path, failed);
    const fs::path inside = real.lexically_relative(root_);
    const fs::path of_house = real.lexically_relative(house_);
    if (failed || of_house.empty() || *of_house.begin() == "..") return {};
    const bool is_folder = fs::is_directory(real, failed);
    if (is_folder && fs::exists(real / "README.md", failed)) return address_of(real / "README.md");
    if (!is_folder) {
      const bool is_shown = !type_of(real).empty() && fs::is_regular_file(real, failed) &&
                            fs::file_size(real, failed) <= most_bytes;
      if (!is_shown) return {};
    }
    std::string address = *inside.begin() != ".."
                              ? "/" + inside.generic_string()
                              : std::string(Docs::beside) + of_house.generic_string();
    if (docs_.files_.size() < most_files && docs_.files_.emplace(address, Docs::File{}).second) {
      open_.push_back(real);
    }
    return docs_.files_.contains(address) ? address : std::string();
  }

  void read(const fs::path& path) {
    Docs::File& file = docs_.files_[address_of(path)];
    if (std::error_code failed; fs::is_directory(path, failed)) {
      file = {html_type, list_of(path)};
      return;
    }
    std::ifstream in(path, std::ios::binary);
    std::string body{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    const std::string_view type = type_of(path);
    if (type == html_type) {
      const std::string html = html_of_markdown(body, [&](std::string_view address) {
        const std::size_t mark = std::min(address.find('#'), address.size());
        std::string to = address_of(path.parent_path() / address.substr(0, mark));
        return to.empty() ? to : to.append(address.substr(mark));
      });
      body = page_of(title_of_markdown(body), html);
    }
    file = {type, std::move(body)};
  }

  /// Its files by name; those that can be shown are links.
  std::string list_of(const fs::path& folder) {
    std::vector<fs::path> paths;
    std::error_code failed;
    for (fs::directory_iterator at(folder, failed), end; !failed && at != end;
         at.increment(failed)) {
      paths.push_back(at->path());
    }
    std::ranges::sort(paths);
    const std::string title = folder.lexically_relative(house_).generic_string();
    std::string body = fmt::format("<h1>{}</h1>\n<ul>\n", report::html_text(title));
    for (const fs::path& path : paths) {
      const std::string name = report::html_text(path.filename().string());
      // a folder in it would bring its own, and so on to the whole house
      const std::string address = fs::is_directory(path, failed) ? std::string() : address_of(path);
      body += address.empty() ? fmt::format("<li>{}</li>\n", name)
                              : fmt::format("<li><a href=\"{}\">{}</a></li>\n",
                                            report::html_text(address), name);
    }
    return page_of(title, body + "</ul>\n");
  }

  static constexpr std::uintmax_t most_bytes = 16 << 20;
  static constexpr std::size_t most_files = 2000;

  fs::path root_;
  fs::path house_;  ///< the folder is in it
  Docs docs_;
  std::vector<fs::path> open_;  ///< have an address and are still to be read
};

Result<Docs> Docs::read(const std::string& folder) {
  Docs docs = DocsReader(folder).run();
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
