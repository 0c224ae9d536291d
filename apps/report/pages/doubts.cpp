// Reasons to doubt an answer, in its first line and below it.
#include <algorithm>

#include <fmt/format.h>

#include "apps/report/pages.h"

namespace foretrace::report {

void say_doubts(const std::vector<driver::Doubt>& doubts, Page& page) {
  const auto answer =
      std::find_if(page.sections.begin(), page.sections.end(),
                   [](const Section& s) { return s.show != Show::never && !s.headline.empty(); });
  if (doubts.empty() || answer == page.sections.end()) return;
  answer->doubt = doubts.front().brief;
  std::string reasons;
  for (const driver::Doubt& doubt : doubts) {
    reasons += fmt::format("  doubtful: {}\n", doubt.text);
  }
  answer->remark.insert(0, reasons);
}

}  // namespace foretrace::report
