// Recordings as PyTorch's profiler writes them, of programs whose host does a little each time.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "apps/session/recording/load.h"
#include "tests/trace/rules/table_builder.h"

namespace foretrace::test {

inline Recording profiled_recording(trace::EventTable table) {
  Recording recording;
  recording.events = std::move(table);
  recording.events.info.format = "kineto_json";
  auto built = trace::build_graph(recording.events);
  REQUIRE(built.ok());
  recording.built = *std::move(built);
  return recording;
}

/// Two steps of 20 pieces of 25 us on the host: two operators, a launch, and every second time a
/// record and a wait; every tenth kernel is on another stream; kernels take `kernel_us`.
inline Recording profiled_recording(double kernel_us) {
  trace::TableBuilder t;
  const TrackId host = t.thread(1);
  const TrackId streams[] = {t.stream(7), t.stream(8)};
  double free_us = 0;
  for (int step = 0; step < 2; ++step) {
    const double begin = 500.0 * step;
    t.event(trace::EventKind::user_annotation, "ProfilerStep#" + std::to_string(step), host, begin,
            500);
    for (int piece = 0; piece < 20; ++piece) {
      const double at = begin + 25.0 * piece;
      t.op(host, "aten::add", at + 1, 23);
      t.op(host, "aten::empty", at + 5, 2);
      if (piece % 2 == 1) {
        t.call(host, "cudaEventRecord", at + 10, 1);
        t.call(host, "cudaStreamWaitEvent", at + 12, 1);
      }
      const EventId call = t.call(host, "cudaLaunchKernel", at + 18, 5);
      const double start = std::max(free_us, at + 25);
      t.work(call, streams[piece % 10 == 9 ? 1 : 0], start, kernel_us);
      free_us = start + kernel_us;
    }
  }
  return profiled_recording(t.table());
}

}  // namespace foretrace::test
