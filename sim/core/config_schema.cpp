// Which kind of config a file is.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "sim/core/config.h"

namespace foretrace {
namespace {

/// Where a comment or the blanks at `at` end.
std::size_t past_blanks(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    if (std::string_view(" \t\r\n").find(text[at]) != std::string_view::npos) {
      ++at;
    } else if (text.substr(at, 2) == "//") {
      at = std::min(text.size(), text.find('\n', at));
    } else if (text.substr(at, 2) == "/*") {
      at = std::min(text.size(), text.find("*/", at + 2));
      at = std::min(text.size(), at + 2);
    } else {
      break;
    }
  }
  return at;
}

/// Where the text that begins at `at`, a quote, ends.
std::size_t past_text(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(text.size(), at + 1);
}

}  // namespace

std::string_view schema_in(std::string_view text) {
  std::size_t depth = 0;
  for (std::size_t at = past_blanks(text, 0); at < text.size(); at = past_blanks(text, at)) {
    const char c = text[at];
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && depth > 0) --depth;
    if (c != '"') {
      ++at;
      continue;
    }
    const std::size_t end = past_text(text, at);
    const bool is_schema = depth == 1 && text.substr(at, end - at) == "\"schema\"";
    at = end;
    if (!is_schema) continue;
    const std::size_t colon = past_blanks(text, end);
    if (colon >= text.size() || text[colon] != ':') continue;
    const std::size_t value = past_blanks(text, colon + 1);
    if (value < text.size() && text[value] == '"') {
      const std::string_view rest = text.substr(value + 1);
      return rest.substr(0, rest.find('"'));
    }
  }
  return {};
}

std::string schema_of_file(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) return {};  // what a pipe gave is gone
  std::ifstream file(path, std::ios::binary);
  std::string head(std::size_t{64} << 10U, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return std::string(schema_in(head));
}

bool names_schema(const std::string& path, std::string_view schema) {
  return schema_of_file(path).starts_with(schema);
}

}  // namespace foretrace
