// The page of `corun`: foretrace.corun/1.
#include "apps/report/pages/corun.h"

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "apps/report/builder.h"
#include "apps/session/replay/doubt.h"
#include "sim/core/text.h"

namespace foretrace::report {

namespace sections {
Builder<SharedDevice> shared_device;
}

Page corun_page(const SharedDevice& answer) {
  constexpr std::array list = {sections::shared_device};
  Page page{.schema = "foretrace.corun/1",
            .document_keys = {"accelerator", "runs", "ways"},
            .sections = build<SharedDevice>(list, {}, answer),
            .main_table = "ways"};
  std::vector<Doubt> doubts;
  for (std::size_t i = 0; i < answer.paths.size(); ++i) {
    if (i == 1 && answer.paths[0] == answer.paths[1]) break;
    const std::string name(file_name_of(answer.paths[i]));
    for (const std::string& doubt : answer.doubts[i]) {
      doubts.push_back({fmt::format("the graph of {}", name), fmt::format("{}: {}", name, doubt)});
    }
  }
  say_doubts(doubts, page);
  return page;
}

}  // namespace foretrace::report
