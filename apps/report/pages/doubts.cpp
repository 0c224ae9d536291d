// Reasons to doubt an answer, in its first line and below it.
#include <algorithm>

#include <fmt/format.h>

#include "apps/report/builder.h"
#include "apps/report/pages/result.h"
#include "apps/report/text.h"

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

namespace {

/// What removes most doubts of a recording that begins with compilation or first use.
std::string remedy_of(const Recording* recording) {
  if (recording == nullptr || recording->without_one_off || recording->one_off.empty()) return {};
  std::int64_t total = 0;
  for (const trace::Silence& pause : recording->one_off) total += pause.end_ns - pause.begin_ns;
  return fmt::format("  try --without-one-off: {} of pauses do not repeat\n", time_text(total));
}

}  // namespace

void say_doubts(const std::vector<Doubt>& doubts, Page& page, const Recording* recording) {
  const auto answer =
      std::find_if(page.sections.begin(), page.sections.end(),
                   [](const Section& s) { return s.show != Show::never && !s.headline.empty(); });
  if (doubts.empty() || answer == page.sections.end()) return;
  answer->doubt = doubts.front().brief;
  std::string reasons;
  for (const Doubt& doubt : doubts) {
    reasons += fmt::format("  low confidence: {}\n", doubt.text);
  }
  answer->remark.insert(0, reasons + remedy_of(recording));
}

}  // namespace foretrace::report
