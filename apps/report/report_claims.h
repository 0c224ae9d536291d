// The table of published claims that `validate --claims` prints.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "apps/driver/validate/claims.h"

namespace foretrace::app {

[[nodiscard]] std::string claims_markdown(const std::vector<driver::ClaimRow>& claims);
[[nodiscard]] std::string claims_page(const std::vector<driver::ClaimRow>& claims);
/// "12 of 20 published gains lie inside what is predicted, ...".
[[nodiscard]] std::string claims_headline(const std::vector<driver::ClaimRow>& claims);
[[nodiscard]] nlohmann::ordered_json claims_json(const std::vector<driver::ClaimRow>& claims);

}  // namespace foretrace::app
