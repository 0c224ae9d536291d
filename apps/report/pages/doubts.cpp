// Reasons to doubt an answer, in its first line and below it.
#include <algorithm>

#include <fmt/format.h>

#include "apps/report/builder.h"
#include "apps/report/pages/result.h"

namespace foretrace::report {

std::vector<Doubt> all_doubts(const ResultAnswer& answer) {
  std::vector<Doubt> doubts = answer.session.replay().doubts;
  const auto add = [&doubts](const std::vector<Doubt>& more) {
    doubts.insert(doubts.end(), more.begin(), more.end());
  };
  if (answer.predicted != nullptr) add(answer.predicted->prediction().doubts());
  const bool ranks = answer.ranking != nullptr && !answer.ranking->rows.empty();
  if (ranks) add(answer.ranking->rows.front().doubts);
  return doubts;
}

void say_doubts(const std::vector<Doubt>& doubts, Page& page) {
  const auto answer =
      std::find_if(page.sections.begin(), page.sections.end(),
                   [](const Section& s) { return s.show != Show::never && !s.headline.empty(); });
  if (doubts.empty() || answer == page.sections.end()) return;
  answer->doubt = doubts.front().brief;
  std::string reasons;
  for (const Doubt& doubt : doubts) {
    reasons += fmt::format("  doubtful: {}\n", doubt.text);
  }
  answer->remark.insert(0, reasons);
}

}  // namespace foretrace::report
