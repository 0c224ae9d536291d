#include "apps/questions/memory/max_batch.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/apps/questions/answers_support.h"

namespace foretrace {
namespace {

using test::Loaded;
using test::stack_of;

MemoryTarget gibibytes(std::int64_t size) {
  return {.capacity_bytes = size << 30,
          .context_low_bytes = std::int64_t{300} << 20,
          .context_high_bytes = std::int64_t{600} << 20};
}

/// As --apply batch_size and the rest of the stack would have it.
bool fits_at(const Loaded& run, const MemoryTarget& target, std::int64_t batch,
             std::int64_t recorded, std::vector<std::string> texts = {}) {
  const double factor = static_cast<double>(batch) / static_cast<double>(recorded);
  if (factor != 1) texts.insert(texts.begin(), fmt::format("batch_size:factor={}", factor));
  const auto prediction = predict(run.recording, stack_of(texts));
  REQUIRE_MESSAGE(prediction.ok(), prediction.error().message);
  const MemoryModel memory(run.recording, run.replay.run.timeline);
  return target.fits(*memory.need(prediction->graph, prediction->run.timeline));
}

void check_largest(const Loaded& run, const MemoryTarget& target,
                   const std::vector<std::string>& texts = {}) {
  const auto answer = find_max_batch(run.session, stack_of(texts), target);
  REQUIRE_MESSAGE(answer.ok(), answer.error().message);
  const std::int64_t recorded = answer->recorded_batch;
  REQUIRE(answer->max_batch > 0);
  CHECK(fits_at(run, target, answer->max_batch, recorded, texts));
  CHECK_FALSE(fits_at(run, target, answer->max_batch + 1, recorded, texts));
  for (const BatchPoint& point : answer->points) {
    double shares = 0;
    for (const double share : point.provenance) shares += share;
    CHECK(shares == doctest::Approx(1));
    CHECK(point.low_ns <= point.step_ns);
    CHECK(point.high_ns >= point.step_ns);
  }
  if (answer->at_most_batch) CHECK(*answer->at_most_batch >= answer->max_batch);
  CHECK(answer->scan.possible >= answer->max_batch);
  for (const BatchGap& gap : answer->scan.gaps) {
    CHECK_FALSE(fits_at(run, target, gap.from, recorded, texts));
    CHECK_FALSE(fits_at(run, target, gap.to, recorded, texts));
  }
}

TEST_CASE(
    "fit: who names an accelerator means the run there, who names a size or its own does not") {
  const Loaded run =
      test::loaded(FORETRACE_SOURCE_DIR "/examples/traces/demo_generated_cnn.json.gz");
  const std::string own = run.recording.accelerator->name;
  const auto moved = [&](const char* target, const std::vector<std::string>& texts = {}) {
    const auto move = move_to_fit(run.session, stack_of(texts), target);
    REQUIRE_MESSAGE(move.ok(), (move.ok() ? "" : move.error().message));
    return *move ? std::string((*move)->info->name) : std::string();
  };
  CHECK(moved("t4") == "accelerator_swap");
  CHECK(moved(own.c_str()).empty());
  CHECK(moved("24GiB").empty());
  CHECK(moved("no_such_device").empty());
  CHECK(moved("t4", {"accelerator_swap:to=t4"}).empty());
}

TEST_CASE("max batch: the largest fits when simulated again, the next one does not") {
  const Loaded run = test::loaded(test::demo_memory_trace);
  check_largest(run, gibibytes(8));
  check_largest(run, gibibytes(1));  // less than the recorded batch needs
  check_largest(run, gibibytes(8), {"activation_checkpointing"});
}

TEST_CASE("max batch: the recorded batch is the recorded step, and it is read from shapes") {
  const Loaded run = test::loaded(test::demo_memory_trace);
  const auto answer = find_max_batch(run.session, {}, gibibytes(8));
  REQUIRE(answer.ok());
  CHECK(answer->recorded_batch == 64);
  for (const BatchPoint& point : answer->points) {
    if (point.batch != 64) continue;
    CHECK(point.step_ns == run.replay.run.answer.step_ns);
    CHECK(point.samples_per_second ==
          doctest::Approx(64e9 / static_cast<double>(run.replay.run.answer.step_ns)));
  }
  // Device-bound: more samples per second the larger the batch, but never more than the slope says.
  CHECK(answer->step_line.is_straight());
  CHECK(answer->points.front().samples_per_second < answer->points.back().samples_per_second);
  CHECK(answer->points.back().samples_per_second < 1e9 / answer->step_line.slope);
}

TEST_CASE("max batch: accumulated passes count, and memory is of one pass") {
  const Loaded run = test::loaded(test::demo_memory_trace);
  const auto alone = find_max_batch(run.session, {}, gibibytes(4));
  const auto stack = stack_of({"gradient_accumulation:steps=2"});
  const auto twice = find_max_batch(run.session, stack, gibibytes(4));
  REQUIRE(alone.ok());
  REQUIRE_MESSAGE(twice.ok(), twice.error().message);
  CHECK(twice->passes == 2);
  CHECK(static_cast<double>(twice->max_batch) ==
        doctest::Approx(static_cast<double>(alone->max_batch)).epsilon(0.02));
}

TEST_CASE("max batch: on real recordings") {
  for (const char* trace : {"kineto_resnet50/workers0_v100", "triosim/vgg13_h100_kineto"}) {
    const auto run = test::loaded_real(trace);
    if (!run) continue;
    REQUIRE(run->recording.accelerator);
    check_largest(*run, target_of(*run->recording.accelerator));
  }
}

TEST_CASE(
    "max batch: reserved bytes leap, so a larger batch may fit where a smaller one does not") {
  const auto run = test::loaded_real("triosim/vgg13_h100_kineto");
  if (!run) return;
  const MemoryTarget target = gibibytes(40);
  const auto answer = find_max_batch(run->session, {}, target);
  REQUIRE(answer.ok());
  CHECK_FALSE(answer->scan.gaps.empty());
  // None of the multiples that the answer claims to have tried fits.
  const BatchScan& scan = answer->scan;
  for (std::int64_t at = scan.possible / scan.granule_above * scan.granule_above;
       at > answer->max_batch; at -= scan.granule_above) {
    CHECK_FALSE(fits_at(*run, target, at, answer->recorded_batch));
  }
  CHECK_FALSE(fits_at(*run, target, scan.possible + 1, answer->recorded_batch));
  check_largest(*run, target);
}

TEST_CASE("max batch: nothing fits, batch_size in the stack, no memory") {
  const Loaded run = test::loaded(test::demo_memory_trace);
  MemoryTarget tiny = gibibytes(1);
  tiny.capacity_bytes = std::int64_t{601} << 20;
  const auto none = find_max_batch(run.session, {}, tiny);
  REQUIRE(none.ok());
  CHECK(none->max_batch == 0);
  const auto resized = stack_of({"batch_size:factor=2"});
  const auto refused = find_max_batch(run.session, resized, gibibytes(8));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::bad_usage);
  const auto by_shape = stack_of({"flash_attention"});
  const auto stale = find_max_batch(run.session, by_shape, gibibytes(8));
  REQUIRE_FALSE(stale.ok());
  CHECK(stale.error().message ==
        "largest batch: flash_attention uses the time of the recorded batch; leave it out");
  const Loaded bare = test::loaded(FORETRACE_SOURCE_DIR "/tests/fixtures/kineto_json/rocm.json");
  CHECK_FALSE(find_max_batch(bare.session, {}, gibibytes(8)).ok());
}

TEST_CASE("max batch: a line through three points by least squares") {
  const std::array<std::pair<double, double>, 3> exact = {{{1, 5}, {2, 7}, {4, 11}}};
  CHECK(line_through(exact).slope == doctest::Approx(2));
  CHECK(line_through(exact).offset == doctest::Approx(3));
  CHECK(line_through(exact).is_straight());
  const std::array<std::pair<double, double>, 3> falling = {{{1, 5}, {2, 4}, {3, 3}}};
  CHECK(line_through(falling).slope == doctest::Approx(-1));
  CHECK_FALSE(line_through(falling).is_straight());  // more samples in less time
  const std::array<std::pair<double, double>, 3> steep = {{{1, 1}, {2, 3}, {3, 5}}};
  CHECK_FALSE(line_through(steep).is_straight());  // less than nothing at no sample
  const std::array<std::pair<double, double>, 2> one = {{{2, 4}, {2, 4}}};
  CHECK(line_through(one).slope == 0);
}

}  // namespace
}  // namespace foretrace
