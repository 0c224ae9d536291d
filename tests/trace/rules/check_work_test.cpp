#include "trace/rules/check_work.h"

#include <string>

#include <doctest/doctest.h>

#include "tests/trace/rules/table_builder.h"
#include "trace/rules/build_graph.h"

namespace foretrace::trace {
namespace {

/// A host that launches a few kernels, beside an accelerator of which `unknown` events were kept.
EventTable with_unknown(std::size_t unknown, std::size_t kernels) {
  TableBuilder t;
  double host = 0;
  for (std::size_t i = 0; i < kernels; ++i) {
    t.work(t.call(t.thread(1), "cudaLaunchKernel", host, 5), t.stream(7), host + 7, 9);
    host += 20;
  }
  t.op(t.thread(1), "aten::add", host, 10);
  Track track{.kind = Track::Kind::other, .process = 9, .number = 3};
  track.process_text = t.table().names.intern("/device:NPU:0");
  t.table().tracks.push_back(track);
  const auto on = make_id<TrackId>(t.table().tracks.size() - 1);
  for (std::size_t i = 0; i < unknown; ++i) {
    t.event(EventKind::other, "AicoreMatMul", on, 2.0 * static_cast<double>(i), 1);
  }
  return t.table();
}

std::string refusal(const EventTable& table) {
  const Result<BuiltGraph> built = build_graph(table);
  if (built.ok()) {
    return "";
  }
  CHECK(built.error().code == ErrorCode::no_match);
  return built.error().message;
}

}  // namespace

TEST_CASE("work: a replay of an accelerator that is not understood is no success") {
  const std::string message = refusal(with_unknown(5'000, 3));
  CHECK(message.starts_with("test: unsupported accelerator: 5000 of 5007 events"));
  CHECK(message.find("most of them of '/device:NPU:0', 3 are device work") != std::string::npos);
  // Without any device work it is one just so.
  CHECK(refusal(with_unknown(5'000, 0)).find("unsupported accelerator") != std::string::npos);
}

TEST_CASE("work: events of unknown kinds beside work that is understood do no harm") {
  CHECK(refusal(with_unknown(5'000, 60)).empty());
  CHECK(refusal(with_unknown(900, 3)).empty());  // marks and counters of a small recording
}

}  // namespace foretrace::trace
