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

TEST_CASE("timeline picture: the longest gap of all streams says how long it is and for what") {
  // The device works until 20 and from 80 on: 60 us of waiting, whichever stream.
  const TaskGraph gap = graph("h:a(5) s:k(15000)<a s2:c(10000)<a h:b(75000) s:n(20000)<b");
  const Timeline timeline = simulate(gap);
  const std::array<svg::TimelineView, 1> views = {{{"run", "", gap, timeline}}};
  const std::string text =
      svg::timeline_picture({.title = "gap", .measured_step_ns = 90'000}, views);
  const std::size_t at = text.find("GPU waits ");
  REQUIRE(at != std::string::npos);
  CHECK(std::stod(text.substr(at + 10)) == doctest::Approx(60).epsilon(0.01));
  CHECK(text.find(" us for the CPU") != std::string::npos);
  CHECK(count(text, "class=\"measured\"") == 1);
  CHECK(text.find("measured: 90.0 us per step") != std::string::npos);
  // A tick beyond the picture would be at a place that means another time.
  CHECK(count(svg::timeline_picture({.title = "gap", .measured_step_ns = 200'000}, views),
              "class=\"measured\"") == 0);
}

TEST_CASE("timeline picture: rows beyond the limit are counted, an empty graph is no crash") {
  const TaskGraph many = graph("h:a(5) s:k1(5)<a s2:k2(4)<a s3:k3(3)<a s4:k4(2)<a");
  const Timeline timeline = simulate(many);
  const std::array<svg::TimelineView, 1> views = {{{"run", "", many, timeline}}};
  const std::string text =
      svg::timeline_picture({.title = "many", .steps = 2, .most_rows = 3}, views);
  CHECK(text.find("2 more rows with less work") != std::string::npos);
  const TaskGraph none;
  const Timeline nothing = simulate(none);
  const std::array<svg::TimelineView, 1> empty = {{{"run", "", none, nothing}}};
  CHECK(
      svg::timeline_picture({.title = "none", .steps = 2, .most_rows = 3}, empty).find("</svg>") !=
      std::string::npos);
}
