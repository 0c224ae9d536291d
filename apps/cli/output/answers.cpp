#include "apps/cli/output/answers.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include <sys/ioctl.h>
#include <unistd.h>

#include "apps/report/writers.h"

namespace foretrace::app {
namespace {

// NOLINTBEGIN(concurrency-mt-unsafe): nothing writes to the environment
std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}
// NOLINTEND(concurrency-mt-unsafe)

bool is_set(const char* name) { return !environment(name).empty(); }

/// 0 if it is no number.
std::size_t number_in_environment(const char* name) {
  const std::string_view text = environment(name);
  std::size_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  return end.ec == std::errc() && end.ptr == text.data() + text.size() ? number : 0;
}

}  // namespace

int answer(const report::Page& page, const CommonOptions& options, ExitCode code) {
  if (options.json) return answer(report::json_of(page), code);
  if (options.csv || !options.table.empty()) {
    const Result<std::string> table = report::csv_of(page, options.table);
    return table.ok() ? answer(*table, code) : failure(table.error());
  }
  return answer(
      options.quiet ? report::headlines_of(page) : report::text_of(page, text_style(options)),
      code);
}

report::TextStyle text_style(const CommonOptions& options) {
  report::TextStyle style{.details = options.details};
  const bool is_terminal = isatty(STDOUT_FILENO) == 1;
  // Narrower pages break too much, wider ones are hard to read.
  constexpr std::size_t narrowest = 60;
  constexpr std::size_t widest = 240;
  std::size_t width = number_in_environment("COLUMNS");
  struct winsize size {};
  if (width == 0 && is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
    width = size.ws_col;
  }
  if (width > 0) style.width = std::clamp(width, narrowest, widest);
  style.colour = is_terminal && !is_set("NO_COLOR") && environment("TERM") != "dumb";
  return style;
}

}  // namespace foretrace::app
