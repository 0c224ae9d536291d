// What recorders write that cannot have been: copies of one line that overlap, kernels that outlast
// later ones of their stream, work that begins before its launch.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/pull/pull.h"
#include "sim/engine/reactions.h"
#include "tests/trace/rules/table_builder.h"
#include "trace/assemble/build_graph.h"

namespace foretrace::trace {
namespace {

BuiltGraph build(const EventTable& table, const LeftOutRules& without = {}) {
  BuildOptions options;
  options.without_rules = without;
  Result<BuiltGraph> built = build_graph(table, options);
  REQUIRE_MESSAGE(built.ok(), built.error().message);
  return std::move(built).value();
}

double span_us(const BuiltGraph& built, double device = 1) {
  Timeline timeline;
  simulate(built.graph.topology(), scale_device(built.graph, device), timeline);
  return static_cast<double>(timeline.span_ns) / 1000;
}

bool has_flag(const BuiltGraph& built, const std::string& text) {
  return std::any_of(built.honesty.flags.begin(), built.honesty.flags.end(),
                     [&](const std::string& flag) { return flag.find(text) != std::string::npos; });
}

/// A TPU: operations one after the other, and copies beside them that begin with one of them.
EventTable beside(std::uint32_t seed) {
  std::mt19937 random(seed);
  TableBuilder t;
  double at = 0;
  std::vector<double> begins;
  for (int i = 0; i < 40; ++i) {
    const double length = 100 + static_cast<double>(random() % 900);
    t.orphan(t.stream(2), at, length);
    begins.push_back(at);
    at += length;
  }
  for (int i = 1; i < 30; ++i) {
    const double most = at - begins[static_cast<std::size_t>(i)];
    t.event(EventKind::copy, "copy-start", t.stream(3), begins[static_cast<std::size_t>(i)],
            std::min(most, 200 + static_cast<double>(random() % 5000)));
  }
  return t.table();
}

/// Devices that the host launches to, in bursts with idle time between them; their clocks are
/// behind by what is asked for, and some correlations name a call that came long after the work.
struct Launches {
  EventTable table;
  std::size_t wrong = 0;
};
Launches launches(std::uint32_t seed, const std::vector<double>& behind_us, bool wrong) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t most) { return static_cast<double>(random() % most); };
  TableBuilder t;
  Launches made;
  const int bursts = 12 + static_cast<int>(random() % 20);
  const int burst = 5 + static_cast<int>(random() % 12);
  const auto most_wrong =
      static_cast<std::size_t>(bursts) * static_cast<std::size_t>(burst) / 100 + 1;
  double host = 0;
  std::vector<double> device(behind_us.size(), 0);
  for (int b = 0; b < bursts; ++b) {
    for (int i = 0; i < burst; ++i) {
      for (std::size_t d = 0; d < device.size(); ++d) {
        const EventId call = t.call(t.thread(1), "cudaLaunchKernel", host, 5);
        device[d] = std::max(device[d], host + 6 + below(8));
        const double length = 10 + below(60);
        const bool is_wrong = wrong && d == 0 && i == 3 && made.wrong < most_wrong;
        made.wrong += is_wrong ? 1 : 0;
        const TrackId stream = t.stream(7 + static_cast<std::int64_t>(d));
        t.table().tracks[index(stream)].device = static_cast<std::int32_t>(d);
        t.work(call, stream, device[d] - behind_us[d] - (is_wrong ? 1'000 + below(10'000'000) : 0),
               length);
        device[d] += length + 1;
        host += 6 + below(4);
      }
    }
    host = std::max(host, *std::max_element(device.begin(), device.end())) + 100 + below(500);
  }
  made.table = std::move(t.table());
  return made;
}

/// Microseconds that a device was moved by, as the flags say; 0 if they say nothing of it.
double moved_us(const BuiltGraph& built, const std::string& whose) {
  for (const std::string& flag : built.honesty.flags) {
    if (flag.rfind(whose + " clock behind", 0) == 0) {
      return std::stod(flag.substr(flag.find("moved by ") + 9));
    }
  }
  return 0;
}

/// One stream of kernels of 100 us behind each other, launched early; some of them reach too far.
EventTable overlong(bool is_wrong, double clock_us = 0) {
  TableBuilder t;
  for (int i = 0; i < 80; ++i) {
    const EventId call = t.call(t.thread(1), "cudaLaunchKernel", 10 * i, 5);
    const double length = is_wrong && i % 20 == 3 ? 2500 : 100;
    t.work(call, t.stream(7), 20 + 102 * i - clock_us, length);
  }
  return t.table();
}

}  // namespace

TEST_CASE("beside: copies that overlap each other are no queue, and what is hidden stays hidden") {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    const EventTable table = beside(seed);
    CAPTURE(seed);
    double last = 0;
    for (std::size_t i = 0; i < table.size(); ++i) {
      last = std::max(last, static_cast<double>(table.end_ns(make_id<EventId>(i))) / 1000);
    }
    const BuiltGraph built = build(table);
    CHECK(span_us(built) == doctest::Approx(last).epsilon(0.001));
    // Twice as fast everything, twice as slow: they stay beside the operations they began with.
    CHECK(span_us(built, 0.5) == doctest::Approx(last / 2).epsilon(0.02));
    CHECK(span_us(built, 2) == doctest::Approx(2 * last).epsilon(0.02));
    CHECK(span_us(build(table, {"beside"})) > 1.10 * last);
  }
}

TEST_CASE("beside: copies one after the other stay a queue") {
  TableBuilder t;
  t.orphan(t.stream(2), 0, 1000);
  for (int i = 0; i < 5; ++i) {
    t.event(EventKind::copy, "copy", t.stream(3), 200 * i, 150);
  }
  CHECK(build(t.table()).graph.context().lanes.size() ==
        build(t.table(), {"beside"}).graph.context().lanes.size());
}

TEST_CASE("overlong: kernels that outlast later ones of their stream end where the next begins") {
  const BuiltGraph right = build(overlong(false));
  const BuiltGraph wrong = build(overlong(true));
  CHECK(span_us(wrong) == doctest::Approx(span_us(right)).epsilon(0.001));
  CHECK(span_us(wrong, 0.5) == doctest::Approx(span_us(right, 0.5)).epsilon(0.002));
  CHECK(has_flag(wrong, "4 kernels recorded to overlap later ones of their stream"));
  CHECK_FALSE(has_flag(right, "overlap"));
  CHECK(span_us(build(overlong(true), {"overlong"}), 2) > 1.10 * span_us(wrong, 2));
}

TEST_CASE("overlong: nodes of a device graph may overlap") {
  TableBuilder t;
  const EventId call = t.call(t.thread(1), "cudaGraphLaunch", 0, 20);
  t.work(call, t.stream(7), 30, 100);
  t.work(call, t.stream(7), 40, 10);
  CHECK_FALSE(has_flag(build(t.table()), "overlap"));
}

TEST_CASE("device clock: work that begins before its launch moves, and it is said") {
  const BuiltGraph right = build(overlong(false));
  for (const double clock_us : {300.0, 20'000.0}) {
    const BuiltGraph moved = build(overlong(false, clock_us));
    CHECK(has_flag(moved, "device clock behind the host's"));
    // The first kernel begins 20 us after its launch; moved, they begin 6 us after it at least.
    CHECK(span_us(moved) == doctest::Approx(span_us(right)).epsilon(0.01));
    CHECK(span_us(moved, 0) == doctest::Approx(span_us(right, 0)).epsilon(0.03));
  }
  CHECK_FALSE(has_flag(right, "device clock"));
  CHECK(std::abs(span_us(build(overlong(false, 20'000), {"device_clock"}), 0) / span_us(right, 0) -
                 1) > 0.10);
}

TEST_CASE("device clock: what it is behind is found, whatever single launches say") {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const bool wrong = seed % 2 == 0;
    CHECK(moved_us(build(launches(seed, {0}, wrong).table), "device") == 0);
    const double behind = 50.0 * (1U << (seed % 10));
    const Launches late = launches(seed, {behind}, wrong);
    REQUIRE((late.wrong > 0) == wrong);
    CHECK(std::abs(moved_us(build(late.table), "device") - behind) <= 20);
  }
}

TEST_CASE("device clock: one kernel far before its call moves nothing, and none beyond a second") {
  TableBuilder t;
  for (int i = 0; i < 60; ++i) {
    const EventId call = t.call(t.thread(1), "cudaLaunchKernel", 20'000'000 + 100 * i, 5);
    t.work(call, t.stream(7), i == 0 ? 10'000'000 : 20'000'008 + 100 * i, 50);
  }
  CHECK_FALSE(has_flag(build(t.table()), "clock behind"));
  CHECK_FALSE(has_flag(build(launches(1, {10e6}, false).table), "clock behind"));
}

TEST_CASE("device clock: of two devices only the one that is behind moves") {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const BuiltGraph built = build(launches(seed, {0, 400}, false).table);
    CHECK(moved_us(built, "device 0's") == 0);
    CHECK(std::abs(moved_us(built, "device 1's") - 400) <= 20);
  }
}

TEST_CASE("lost kernels: launches whose kernels were not recorded are counted, not under capture") {
  const auto with_lost = [](bool captured) {
    TableBuilder t;
    const TrackId host = t.thread(1);
    for (int i = 0; i < 40; ++i) {
      const EventId call = t.call(host, "cudaLaunchKernel", 10 * i, 5);
      t.work(call, t.stream(7), 20 + 10 * i, 5);
    }
    if (captured) t.call(host, "cudaStreamBeginCapture", 500, 5);
    for (int i = 0; i < 20; ++i) t.call(host, "cudaLaunchKernel", 510 + 10 * i, 5);
    if (captured) t.call(host, "cudaStreamEndCapture", 720, 5);
    return t.table();
  };
  // What runs behind the window was launched while the device was still at work.
  TableBuilder ahead;
  for (int i = 0; i < 40; ++i) {
    const EventId call = ahead.call(ahead.thread(1), "cudaLaunchKernel", 10 * i, 5);
    if (i < 20) ahead.work(call, ahead.stream(7), 20 + 100 * i, 99);
  }
  CHECK_FALSE(has_flag(build(ahead.table()), "no kernel record"));
  // A call of the driver inside one of the runtime is the same launch.
  TableBuilder nested;
  for (int i = 0; i < 40; ++i) {
    nested.call(nested.thread(1), "cudaLaunchKernel", 20 * i, 9);
    nested.work(nested.call(nested.thread(1), "cuLaunchKernel", 20 * i + 2, 5), nested.stream(7),
                20 * i + 12, 5);
  }
  CHECK_FALSE(has_flag(build(nested.table()), "no kernel record"));
  CHECK(has_flag(build(with_lost(false)), "20 of 60 launches have no kernel record"));
  CHECK_FALSE(has_flag(build(with_lost(true)), "no kernel record"));
  CHECK_FALSE(has_flag(build(with_lost(false), {"lost_kernels"}), "no kernel record"));
}

}  // namespace foretrace::trace
