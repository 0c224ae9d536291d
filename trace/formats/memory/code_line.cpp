#include "trace/formats/memory/code_line.h"

#include <fmt/format.h>

#include "sim/core/text.h"
#include "trace/io/text.h"

namespace foretrace::trace::formats {
namespace {

constexpr std::size_t longest = 200;

bool is_of_program(std::string_view file) {
  return file.ends_with(".py") && !contains_any(file, {"/torch/", "site-packages/", "<frozen"});
}

}  // namespace

void CodeLine::add(std::string_view file, std::int64_t line, std::string_view function) {
  const bool is_own = is_of_program(file);
  if (!own_.empty() || (!is_own && !innermost_.empty())) return;
  std::string text = with_valid_utf8(file.substr(0, longest));
  text += line > 0 ? fmt::format(":{}", line) : "";
  text += function.empty() ? "" : " " + with_valid_utf8(function.substr(0, longest));
  (is_own ? own_ : innermost_) = std::move(text);
}

}  // namespace foretrace::trace::formats
