#include "apps/cli/arguments/formats.h"

#include <algorithm>
#include <array>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace foretrace::app {
namespace {

constexpr std::array<std::string_view, 4> formats = {"json", "markdown", "csv", "table"};

bool is_given(const CLI::App& command, std::string_view format) {
  const CLI::Option* const option = command.get_option_no_throw(fmt::format("--{}", format));
  return option != nullptr && option->count() > 0;
}

}  // namespace

bool is_format(std::string_view option) {
  return std::find(formats.begin(), formats.end(), option) != formats.end();
}

bool has_format(const CLI::App& command) {
  return std::any_of(formats.begin(), formats.end(),
                     [&](std::string_view format) { return is_given(command, format); });
}

Status check_formats(const CLI::App& command) {
  std::string_view found;
  for (const std::string_view format : formats) {
    if (!is_given(command, format)) continue;
    const bool is_same = found == "csv" && format == "table";
    if (!found.empty() && !is_same) {
      return Error{ErrorCode::bad_usage,
                   fmt::format("{}: got --{} and --{}, expected one format of output",
                               command.get_name(), found, format)};
    }
    found = format;
  }
  return ok_status();
}

}  // namespace foretrace::app
