#include "trace/inputs/manifest.h"

#include <filesystem>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <simdjson.h>

#include "trace/formats/common/describe_format.h"
#include "trace/io/text.h"

namespace foretrace::trace {
namespace {

using simdjson::dom::element;

Error refuse(const std::string& path, std::string_view what) {
  return Error{ErrorCode::bad_format,
               fmt::format("{}: the list of recordings cannot be read: {}", path, what)};
}

std::int32_t rank_in(element file) {
  std::int64_t rank = -1;
  const bool known = file["rank"].get(rank) == simdjson::SUCCESS && rank >= 0 &&
                     rank <= std::numeric_limits<std::int32_t>::max();
  return known ? static_cast<std::int32_t>(rank) : -1;
}

}  // namespace

bool is_manifest(std::string_view prefix) {
  const formats::JsonOutline outline = formats::outline_of(prefix);
  return outline.is_object && formats::has_key(outline, "foretrace") &&
         !has_key(outline, "traceEvents");
}

Result<std::vector<ManifestFile>> parse_manifest(std::string_view text, const std::string& path) {
  simdjson::dom::parser parser;
  element document;
  if (const auto problem = parser.parse(simdjson::padded_string(text)).get(document)) {
    return refuse(path, simdjson::error_message(problem));
  }
  simdjson::dom::array list;
  if (document["files"].get(list) != simdjson::SUCCESS) {
    return refuse(path, R"("files" is no list)");
  }
  std::vector<ManifestFile> files;
  std::set<std::string> seen;
  for (const element file : list) {
    std::string_view name;
    if (file["path"].get(name) != simdjson::SUCCESS || name.empty()) {
      return refuse(path, fmt::format(R"("files"[{}] has no "path")", files.size()));
    }
    if (!seen.insert(std::filesystem::path(name).lexically_normal().generic_string()).second) {
      return refuse(path, fmt::format(R"("files"[{}] names {} a second time)", files.size(),
                                      shortened(name)));
    }
    files.push_back({std::string(name), rank_in(file)});
  }
  if (files.empty()) return refuse(path, "it lists no file");
  return files;
}

}  // namespace foretrace::trace
