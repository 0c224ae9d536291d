// The page of `streams`.
#pragma once

#include "apps/extras/frames/streams.h"
#include "apps/report/section.h"

namespace foretrace::report {

struct StreamedAnswer {
  const Streams& streams;
  const StreamsAnswer& answer;
};
/// foretrace.streams_result/1.
[[nodiscard]] Page streams_page(const StreamedAnswer& answer);

}  // namespace foretrace::report
