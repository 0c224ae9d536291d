#include "apps/report/svg/timeline_picture.h"

#include <array>
#include <string>

#include <doctest/doctest.h>

#include "apps/report/svg/memory_picture.h"
#include "sim/engine/pull/pull.h"
#include "tests/sim/graph/text_graph.h"

using namespace foretrace;
using foretrace::test::graph;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

}  // namespace

TEST_CASE("timeline picture: two streams, two threads, a wait between them, and what is saved") {
  // Before: the copy takes 60, the kernel waits for it until 70. After: 20, until 30.
  const TaskGraph before = graph("h:l1(5) s:copy(60000)=copy<l1 t:l2(5) s2:k(30000)<l2<copy+5");
  const TaskGraph after = graph("h:l1(5) s:copy(20000)=copy<l1 t:l2(5) s2:k(30000)<l2<copy+5");
  const Timeline slow = simulate(before);
  const Timeline fast = simulate(after);
  CHECK(slow.span_ns - fast.span_ns == 40000);
  const std::array<svg::TimelineView, 2> views = {
      {{"as recorded", "100 ns in all", before, slow}, {"with <x>", "60 ns", after, fast}}};
  svg::TimelinePicture picture;
  picture.title = "two runs";
  const std::string text = svg::timeline_picture(picture, views);
  CHECK(count(text, "class=\"movement\"") == 3);  // one per run, one in the legend
  CHECK(count(text, "class=\"other\"") == 3);     // kernels of no known phase
  CHECK(count(text, "class=\"hatch\"") == 1);     // only the shorter one leaves time over
  CHECK(text.find("-40.0 us in all") != std::string::npos);
  CHECK(text.find("with &lt;x&gt;") != std::string::npos);
  CHECK(svg::timeline_picture(picture, views) == text);
}

TEST_CASE("timeline picture: rows beyond the limit are counted, an empty graph is no crash") {
  const TaskGraph many = graph("h:a(5) s:k1(5)<a s2:k2(4)<a s3:k3(3)<a s4:k4(2)<a");
  const Timeline timeline = simulate(many);
  const std::array<svg::TimelineView, 1> views = {{{"run", "", many, timeline}}};
  const std::string text = svg::timeline_picture({"many", 2, 3}, views);
  CHECK(text.find("2 more rows with less work") != std::string::npos);
  const TaskGraph none;
  const Timeline nothing = simulate(none);
  const std::array<svg::TimelineView, 1> empty = {{{"run", "", none, nothing}}};
  CHECK(svg::timeline_picture({"none", 2, 3}, empty).find("</svg>") != std::string::npos);
}
