// The page of `corun`: foretrace.corun/1.
#include <array>

#include "apps/report/corun_page.h"
#include "apps/report/pages.h"

namespace foretrace::report {

namespace sections {
Builder<driver::SharedDevice> shared_device;
}

Page corun_page(const driver::SharedDevice& answer) {
  constexpr std::array list = {sections::shared_device};
  return {.schema = "foretrace.corun/1",
          .document_keys = {"accelerator", "runs", "ways"},
          .sections = build<driver::SharedDevice>(list, {}, answer),
          .main_table = "ways"};
}

}  // namespace foretrace::report
