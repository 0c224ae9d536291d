#include "apps/session/range.h"

#include <cmath>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "apps/session/predict.h"
#include "sim/engine/reactions.h"
#include "tests/sim/graph/text_graph.h"

namespace foretrace {
namespace {

// The host works for 300 and then the device for 700.
constexpr std::string_view host_and_device = "h:a(300) s:k(700)<a";

Recording recording_of(std::string_view text) {
  Recording recording;
  recording.built.graph = test::graph(text);
  return recording;
}

/// The recording as it is, or with every device duration times `factor`.
Prediction prediction_of(const Recording& recording, double factor = 1) {
  Prediction prediction;
  prediction.graph = recording.graph().with_weights(scale_device(recording.graph(), factor));
  prediction.run = *simulate_run(prediction.graph);
  prediction.declared_low_ns = prediction.declared_high_ns = prediction.run.answer.step_ns;
  return prediction;
}

double constant(std::string_view name) {
  for (const RangeConstant& constant : range_constants()) {
    if (constant.name == name) return constant.value;
  }
  FAIL("no constant ", std::string(name));
  return 0;
}

TEST_CASE("range: there is one where nothing is declared") {
  const Recording recording = recording_of(host_and_device);
  Prediction prediction = prediction_of(recording);
  REQUIRE(set_range(recording, *replay(recording), {}, prediction).ok());
  CHECK(prediction.low_ns < 1000);
  CHECK(prediction.high_ns > 1000);
  // The step is 300 of host time and 700 of device time, and nothing changed.
  CHECK(prediction.slower.host == doctest::Approx(0.3 * constant("host, same machine")));
  CHECK(prediction.slower.change == 0);
  CHECK(prediction.high_ns ==
        std::llround(1000 * std::exp(std::hypot(prediction.slower.host, constant("rest")))));
}

TEST_CASE("range: declared bounds stay inside, and a parameter that is stated removes no more") {
  const Recording recording = recording_of(host_and_device);
  Prediction wide = prediction_of(recording);
  wide.declared_low_ns = 800;
  wide.declared_high_ns = 1300;
  REQUIRE(set_range(recording, *replay(recording), {}, wide).ok());
  CHECK(wide.low_ns < 800);
  CHECK(wide.high_ns > 1300);
  CHECK(wide.slower.recipe == doctest::Approx(std::log(1.3)));
}

TEST_CASE("range: it grows with the size of the change, more to the slower side") {
  const Recording recording = recording_of(host_and_device);
  const Replay baseline = *replay(recording);
  Prediction small = prediction_of(recording, 0.9);
  Prediction large = prediction_of(recording, 0.1);
  REQUIRE(set_range(recording, baseline, {}, small).ok());
  REQUIRE(set_range(recording, baseline, {}, large).ok());
  CHECK(small.slower.change < large.slower.change);
  CHECK(large.faster.change < large.slower.change);
  // 1000 becomes 370: 63 % of the time is gone.
  CHECK(large.slower.change == doctest::Approx(0.63 * constant("size of the change, slower side")));
}

TEST_CASE("range: a doubtful graph, scatter and a device that is only like one widen it") {
  Recording recording = recording_of(host_and_device);
  Replay baseline = *replay(recording);
  Prediction prediction = prediction_of(recording);
  REQUIRE(set_range(recording, baseline, {}, prediction).ok());
  const double plain = prediction.slower.total();
  baseline.scatter = 0.2;
  baseline.measured.host_ns = {1000, 1000, 1000, 1000, 20};
  baseline.measured.device.assign(5, {.operations = 100});
  baseline.measured.device.back().operations = 2;  // a piece of a step: no part of the median
  REQUIRE(set_range(recording, baseline, {}, prediction).ok());
  CHECK(prediction.slower.total() == doctest::Approx(std::hypot(plain, 0.2 * 1.85 / 2)));
  baseline.doubts.push_back({"x", "y"});
  REQUIRE(set_range(recording, baseline, {}, prediction).ok());
  CHECK(prediction.slower.total() == doctest::Approx(2 * std::hypot(plain, 0.2 * 1.85 / 2)));
  baseline = *replay(recording);
  recording.accelerator_note = "a board";
  REQUIRE(set_range(recording, baseline, {}, prediction).ok());
  CHECK(prediction.slower.total() ==
        doctest::Approx(std::hypot(plain, constant("a device like the recorded one"))));
}

TEST_CASE("range: the host of another machine is less certain than that of the same") {
  Recording recording = recording_of(host_and_device);
  recording.accelerator = Accelerator{};
  recording.accelerator->name = "here";
  const Replay baseline = *replay(recording);
  Prediction prediction = prediction_of(recording);
  prediction.accelerator = recording.accelerator;
  REQUIRE(set_range(recording, baseline, {}, prediction).ok());
  CHECK(prediction.slower.host == doctest::Approx(0.3 * constant("host, same machine")));
  prediction.accelerator->name = "there";
  REQUIRE(set_range(recording, baseline, {}, prediction).ok());
  CHECK(prediction.slower.host == doctest::Approx(0.3 * constant("host, another machine")));
}

TEST_CASE("range: communication counts by its share of the step") {
  const Recording recording = recording_of("s:k(600) s:c(400)=collective");
  Prediction prediction = prediction_of(recording);
  REQUIRE(set_range(recording, *replay(recording), {}, prediction).ok());
  CHECK(prediction.slower.communication == doctest::Approx(0.4 * constant("communication")));
}

}  // namespace
}  // namespace foretrace
