// The page of two runs on one device.
#pragma once

#include "apps/questions/sharing/shared_device.h"
#include "apps/report/section.h"

namespace foretrace::report {

/// foretrace.corun/1.
[[nodiscard]] Page corun_page(const SharedDevice& answer);

}  // namespace foretrace::report
