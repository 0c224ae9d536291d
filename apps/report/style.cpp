#include "apps/report/style.h"

#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>

namespace foretrace::app {
namespace {

bool wants_colour() {
  static const bool wanted = [] {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): read once, before any thread
    const char* const off = std::getenv("NO_COLOR");
    // NOLINTNEXTLINE(concurrency-mt-unsafe)
    const char* const term = std::getenv("TERM");
    return isatty(STDOUT_FILENO) == 1 && (off == nullptr || *off == '\0') &&
           (term == nullptr || std::string_view(term) != "dumb");
  }();
  return wanted;
}

}  // namespace

std::string strong(std::string_view text) {
  return wants_colour() ? fmt::format("\033[1m{}\033[0m", text) : std::string(text);
}

std::string warning_colour(std::string_view text) {
  return wants_colour() ? fmt::format("\033[33m{}\033[0m", text) : std::string(text);
}

}  // namespace foretrace::app
