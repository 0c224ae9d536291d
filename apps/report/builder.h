// Builders of sections: a page is a list of them (pages/*.cpp), each built from what was computed
// by one file of sections/.
#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

#include "apps/report/section.h"
#include "apps/session/replay/doubt.h"

namespace foretrace {
struct Recording;
}

namespace foretrace::report {

/// Builds sections of a page from what it is about; none where that has nothing of the kind.
template <typename Answer>
using Builder = Sections(const Answer&);

/// Sections in the order of a page, then the others of a document, which only it shows.
template <typename Answer>
[[nodiscard]] Sections build(std::span<Builder<Answer>* const> shown,
                             std::span<Builder<Answer>* const> document, const Answer& answer) {
  Sections sections;
  for (Builder<Answer>* const builder : shown) {
    std::ranges::move(builder(answer), std::back_inserter(sections));
  }
  for (Builder<Answer>* const builder : document) {
    if (std::ranges::find(shown, builder) != shown.end()) continue;
    for (Section& section : builder(answer)) {
      section.show = Show::never;
      sections.push_back(std::move(section));
    }
  }
  return sections;
}

/// Says in the first line of the page that its answer is doubtful, and why below; nothing if there
/// is no doubt.
void say_doubts(const std::vector<Doubt>& doubts, Page& page, const Recording* recording = nullptr);

}  // namespace foretrace::report
