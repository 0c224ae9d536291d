// Tables of what became of every file of a folder.
#pragma once

#include <span>
#include <string>

#include "apps/driver/validate/formats.h"

namespace foretrace::app {

/// "97 of 120 files read, 23 refused", and so on.
[[nodiscard]] std::string formats_headline(std::span<const driver::FormatRow> rows);
[[nodiscard]] std::string formats_page(std::span<const driver::FormatRow> rows);
[[nodiscard]] std::string formats_markdown(std::span<const driver::FormatRow> rows);
[[nodiscard]] std::string formats_json(std::span<const driver::FormatRow> rows);

}  // namespace foretrace::app
