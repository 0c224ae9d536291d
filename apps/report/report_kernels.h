// Tables of predicted against measured kernels of pairs of recordings.
#pragma once

#include <string>
#include <vector>

#include "apps/driver/validate/validation.h"

namespace foretrace::app {

/// One table for people; empty if no pair has kernels that could be matched.
[[nodiscard]] std::string kernel_error_page(const std::vector<driver::PairRow>& pairs);
/// The same as Markdown.
[[nodiscard]] std::string kernel_error_markdown(const std::vector<driver::PairRow>& pairs);

}  // namespace foretrace::app
