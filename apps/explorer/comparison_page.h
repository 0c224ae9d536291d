// Two runs on one page: why they differ, and both on one clock.
#pragma once

#include <string>

#include "apps/explorer/page.h"
#include "apps/questions/compare/compare.h"

namespace foretrace::explorer {

struct ComparisonInput {
  const ComparedRun& before;
  const ComparedRun& after;
  const Comparison& comparison;
  std::vector<Doubt> doubts;
  std::string details;   ///< HTML of the whole answer
  std::string document;  ///< the same as JSON
  std::string version;
};

/// Errors: a graph whose times a page cannot hold exactly. Of memory alone there is text, no graph.
[[nodiscard]] Result<Page> make_comparison(const ComparisonInput& input);

}  // namespace foretrace::explorer
