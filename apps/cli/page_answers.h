// What the page of a run is made of: the recording, its replay, and the best what-ifs of a ranking.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "apps/cli/options.h"
#include "apps/cli/output/console.h"
#include "apps/explorer/page.h"
#include "sim/core/result.h"

namespace foretrace::app {

/// What is asked for.
struct PageOptions {
  std::vector<std::string> apply;  ///< what the page opens with
  std::size_t top = 12;            ///< what-ifs of the ranking that it carries
  std::size_t most_megabytes = 8;
};
/// --apply, --top and --max-size.
void add_page_options(Arguments& arguments, PageOptions& options);

/// The page, but its version. The what-ifs are checked before the trace is read.
[[nodiscard]] Result<explorer::PageInput> page_of_run(const PageOptions& page,
                                                      const TraceOptions& trace,
                                                      const CommonOptions& common);

}  // namespace foretrace::app
