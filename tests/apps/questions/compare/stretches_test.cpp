#include "apps/questions/compare/stretches.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/pull/pull.h"
#include "tests/sim/graph/text_graph.h"

namespace foretrace {
namespace {

std::vector<Stretch> of(const TaskGraph& graph) {
  const Timeline timeline = simulate(graph);
  return stretches_of(graph, timeline, {0, timeline.span_ns, 0, no_device, -1});
}

std::string text_of(const std::vector<Stretch>& stretches) {
  std::string text;
  for (const Stretch& stretch : stretches) {
    text += std::string(to_string(stretch.use)) + " " + std::to_string(stretch.begin_ns) + ".." +
            std::to_string(stretch.end_ns) + "\n";
  }
  return text;
}

TEST_CASE("stretches: kernels of two streams, a copy and the host claim each instant once") {
  // host 0..10, k 10..40 on s; m 15..25 on the second stream, beneath k; the copy 40..45 after it
  const TaskGraph graph =
      test::graph("h:a(10) h:b(5) s:k(30)<a s2:m(10)<b c:d(15)<k h:e(20) c:f(5)<e");
  CHECK(text_of(of(graph)) ==
        "device waits for the host 0..10\n"
        "device computes 10..40\n"
        "device copies 40..55\n"
        "device copies 55..60\n");
}

TEST_CASE("stretches: they have no gaps and add up as the breakdown does") {
  const TaskGraph graph = test::graph(
      "h:a(10,3) s:k(30)<a+40 h:b(5) s2:m(100)<k h:c(2,7)<k s:n(9)<c c:d(15)<m h:e(1,50)");
  const Timeline timeline = simulate(graph);
  const Window window{2, timeline.span_ns, 0, no_device, -1};
  std::int64_t at = window.begin_ns;
  Breakdown sum;
  for (const Stretch& stretch : stretches_of(graph, timeline, window)) {
    CHECK(stretch.begin_ns == at);
    at = stretch.end_ns;
    const std::int64_t length = stretch.end_ns - stretch.begin_ns;
    if (stretch.use == Use::compute) sum.compute_ns += length;
    if (stretch.use == Use::copy) sum.memory_copy_ns += length;
    if (stretch.use == Use::host) sum.host_bound_ns += length;
    if (stretch.use == Use::idle) sum.idle_ns += length;
  }
  CHECK(at == window.end_ns);
  const Breakdown expected = summarize(graph, timeline, window).breakdown;
  CHECK(sum.compute_ns == expected.compute_ns);
  CHECK(sum.memory_copy_ns == expected.memory_copy_ns);
  CHECK(sum.host_bound_ns == expected.host_bound_ns);
  CHECK(sum.idle_ns == expected.idle_ns);
  CHECK(expected.idle_ns > 0);
}

}  // namespace
}  // namespace foretrace
