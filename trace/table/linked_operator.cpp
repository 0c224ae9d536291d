#include "trace/table/linked_operator.h"

#include <cstddef>

#include "trace/io/text.h"

namespace foretrace::trace {
namespace {

constexpr std::string_view head = "{\"captured by\": \"";

}  // namespace

std::string with_captured(std::string_view text, std::string_view operator_name,
                          std::string_view layer) {
  std::string out = std::string(head) + json_escaped(operator_name) + "\"";
  if (!layer.empty()) {
    out += ", \"captured in\": \"" + json_escaped(layer) + "\"";
  }
  const bool has_more = text.size() > 2 && text.front() == '{';
  return out + (has_more ? ", " + std::string(text.substr(1)) : std::string("}"));
}

std::string captured_operator(std::string_view text) {
  if (!text.starts_with(head)) {
    return {};
  }
  std::size_t end = head.size();
  while (end < text.size() && text[end] != '"') {
    end += text[end] == '\\' ? 2 : 1;
  }
  return unescaped(text.substr(head.size(), std::min(end, text.size()) - head.size()));
}

std::string_view captured_phase(std::string_view text) {
  // Quotes inside of values are escaped, so that no value looks like a key.
  constexpr std::string_view key = ", \"phase\": \"";
  const std::size_t at = text.starts_with(head) ? text.find(key) : std::string_view::npos;
  if (at == std::string_view::npos) {
    return {};
  }
  const std::string_view rest = text.substr(at + key.size());
  return rest.substr(0, rest.find('"'));
}

}  // namespace foretrace::trace
