// Sections of the page of streams.
#pragma once

#include "apps/extras/frames/streams.h"
#include "apps/report/section.h"

namespace foretrace::report {

struct StreamedAnswer {
  const Streams& streams;
  const StreamsAnswer& answer;
};

// Each is empty where nothing of the kind was asked for.
/// Scores of frames; the path of the file in any case.
[[nodiscard]] Sections streamed_scores(const StreamedAnswer& answer);
/// Loads of queries.
[[nodiscard]] Sections streamed_loads(const StreamedAnswer& answer);
/// Variants of a control loop.
[[nodiscard]] Sections streamed_control(const StreamedAnswer& answer);
/// A weight-shared network, by size of its buffer.
[[nodiscard]] Sections streamed_buffers(const StreamedAnswer& answer);

}  // namespace foretrace::report
