// The tables of published figures that `validate --tables` prints.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "apps/driver/validate/tables/tables.h"

namespace foretrace::app {

[[nodiscard]] std::string tables_page(const driver::TablesReport& report);
[[nodiscard]] std::string tables_markdown(const driver::TablesReport& report);
/// {"tables": [...], "unknown": [...], "broken": [...]}.
[[nodiscard]] nlohmann::ordered_json tables_json(const driver::TablesReport& report);

}  // namespace foretrace::app
