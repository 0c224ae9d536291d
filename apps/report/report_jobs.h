// The table of replayed jobs that `validate` prints.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "apps/driver/validate/validate_jobs.h"

namespace foretrace::app {

[[nodiscard]] std::string jobs_markdown(const std::vector<driver::JobRow>& jobs);
[[nodiscard]] std::string jobs_page(const std::vector<driver::JobRow>& jobs);
[[nodiscard]] nlohmann::ordered_json jobs_json(const std::vector<driver::JobRow>& jobs);

}  // namespace foretrace::app
