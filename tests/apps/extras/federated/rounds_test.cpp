#include "apps/extras/federated/rounds.h"

#include <doctest/doctest.h>

using namespace foretrace::federated;

namespace {

// 10 B down at 10 B/s, 5 examples of 2 FLOP at 5 FLOP/s, 4 B up at 2 B/s: 1 + 2 + 2 = 5 s.
Federation alike(std::int64_t devices) {
  Federation federation;
  federation.classes = {{.name = "all",
                         .devices = devices,
                         .flops_per_s = 5,
                         .download_bytes_per_s = 10,
                         .upload_bytes_per_s = 2,
                         .examples = 5}};
  federation.task = {.download_bytes = 10, .upload_bytes = 4, .flops_per_example = 2};
  federation.rounds = 3;
  return federation;
}

// Adds one device of each of these times.
Federation of_times(const std::vector<double>& seconds) {
  Federation federation;
  for (const double time : seconds) {
    federation.classes.push_back({.name = "one", .devices = 1, .flops_per_s = 1, .examples = time});
  }
  federation.task = {.flops_per_example = 1};
  federation.rounds = 1;
  return federation;
}

constexpr std::int64_t second = 1'000'000'000;

}  // namespace

TEST_CASE("rounds: a device takes download, arithmetic and upload one after the other") {
  const Federation federation = alike(4);
  CHECK(device_seconds(federation.classes[0], federation.task) == doctest::Approx(5));
}

TEST_CASE("rounds: devices that are alike end together, and the server merges then") {
  Federation federation = alike(8);
  federation.task.server_ns = second;
  const auto figures = run_rounds(federation, {.updates = 8});
  REQUIRE(figures.ok());
  CHECK(figures->round_s == std::vector<double>{6, 6, 6});
  CHECK(figures->merged == 24);
  CHECK(figures->wasted_s == 0);
  CHECK(figures->useful_s == doctest::Approx(24 * 5));
  CHECK(figures->sent_bytes == 240);
  CHECK(figures->received_bytes == 96);
  CHECK(figures->peak_bytes_per_s == doctest::Approx((80 + 32) / 6.0));
}

TEST_CASE("rounds: with more devices than are needed the slowest do not count") {
  // Four are asked, three are needed: the round ends with the third, the fourth worked 3 s in vain.
  const auto figures =
      run_rounds(of_times({1, 2, 3, 10}), {.updates = 3, .over_selection = 4.0 / 3});
  REQUIRE(figures.ok());
  CHECK(figures->asked == 4);
  CHECK(figures->merged == 3);
  CHECK(figures->unused == 1);
  CHECK(figures->end_ns == 3 * second);
  CHECK(figures->useful_s == doctest::Approx(6));
  CHECK(figures->wasted_s == doctest::Approx(3));
}

TEST_CASE("rounds: a deadline ends a round with what there is, and gives it up with too little") {
  const RoundPolicy policy{.updates = 4, .deadline_ns = 5 * second, .least = 3};
  const auto figures = run_rounds(of_times({1, 2, 3, 10}), policy);
  REQUIRE(figures.ok());
  CHECK(figures->end_ns == 5 * second);
  CHECK(figures->merged == 3);
  CHECK(figures->wasted_s == doctest::Approx(5));
  const auto fewer = run_rounds(of_times({1, 2, 9, 10}), policy);
  REQUIRE(fewer.ok());
  CHECK(fewer->given_up == 1);
  CHECK(fewer->merged == 0);
  CHECK(fewer->wasted_s == doctest::Approx(1 + 2 + 5 + 5));
}

TEST_CASE("rounds: a device whose time is over leaves, and the next time is waited for") {
  // There for 4 s of every 100 s, an update takes 5 s: nobody ever gets there.
  Federation federation = alike(2);
  federation.classes[0].every_ns = 100 * second;
  federation.classes[0].open_ns = 4 * second;
  federation.retry_ns = second;
  const auto figures = run_rounds(federation, {.updates = 2});
  REQUIRE(figures.ok());
  CHECK(figures->merged == 0);
  CHECK(figures->left == 6);
  CHECK(figures->wasted_s == doctest::Approx(6 * 4));
  // Rounds begin at 0, 100, 200 and last 4 s each.
  CHECK(figures->end_ns == 204 * second);
}

TEST_CASE("rounds: a buffer merges updates as they come, old ones too") {
  // Two at work, one update a round. The fast one ends at 1 and 2 and 3 s ..., the slow at 10 s.
  Federation federation = of_times({1, 10});
  federation.rounds = 11;
  const auto figures =
      run_rounds(federation, {.kind = PolicyKind::buffered, .updates = 1, .at_work = 2});
  REQUIRE(figures.ok());
  CHECK(figures->end_ns == 10 * second);  // ten of the fast one, and the slow one at 10
  CHECK(figures->merged == 11);
  // The slow one began with round 0 and is merged in round 9 or 10; the fast ones are new but for
  // the one that meets it.
  CHECK(figures->age * 11 >= 9);
  CHECK(figures->age * 11 <= 11);
  const auto fresh = run_rounds(
      federation, {.kind = PolicyKind::buffered, .updates = 1, .at_work = 2, .oldest = 3});
  REQUIRE(fresh.ok());
  CHECK(fresh->merged == 11);
  CHECK(fresh->unused == 2);  // the slow one's update, and who is at work at the end
  CHECK(fresh->end_ns == 11 * second);
}

TEST_CASE("rounds: devices that fail are counted, and a task that never succeeds is an error") {
  Federation federation = alike(4);
  federation.task.failure = 1;
  const auto rounds = run_rounds(federation, {.updates = 4});
  REQUIRE(rounds.ok());
  CHECK(rounds->given_up == 3);
  CHECK(rounds->left == 12);
  const auto buffered =
      run_rounds(federation, {.kind = PolicyKind::buffered, .updates = 1, .at_work = 2});
  REQUIRE_FALSE(buffered.ok());
  CHECK(buffered.error().message.find("no update arrived") != std::string::npos);
}

TEST_CASE("rounds: too few devices at any time are an error") {
  Federation federation = alike(2);
  federation.classes[0].every_ns = 10 * second;
  federation.classes[0].open_ns = second;
  federation.classes.push_back(federation.classes[0]);
  federation.classes[1].from_ns = federation.classes[1].until_ns = 5 * second;
  federation.retry_ns = second;
  const auto figures = run_rounds(federation, {.updates = 4});
  REQUIRE_FALSE(figures.ok());
  CHECK(figures.error().message.find("never found 4 of the 4 devices") != std::string::npos);
}

TEST_CASE("rounds: the same seed gives the same run") {
  Federation federation = alike(50);
  federation.classes[0].spread = 2;
  federation.task.failure = 0.2;
  const RoundPolicy policy{.updates = 10, .over_selection = 1.5};
  const auto first = run_rounds(federation, policy);
  const auto again = run_rounds(federation, policy);
  REQUIRE(first.ok());
  REQUIRE(again.ok());
  CHECK(first->round_s == again->round_s);
  federation.seed = 1;
  CHECK(run_rounds(federation, policy)->round_s != first->round_s);
}

TEST_CASE("rounds: histograms hold two numbers for each bin of each feature at each node") {
  CHECK(histogram_bytes(32, 100, 256, 8) == 32.0 * 100 * 256 * 2 * 8);
}

TEST_CASE("rounds: a server that merges a buffer keeps no device from training") {
  // One device at work, 5 s each: updates come at 5, 10 and 15 s and are merged 3 s later. The
  // second one began at 5 s, before the model of 8 s came out; so did the third one at 10 s, before
  // that of 13 s.
  Federation federation = alike(1);
  federation.task.server_ns = 3 * second;
  const RoundPolicy buffered{.kind = PolicyKind::buffered, .updates = 1, .at_work = 1};
  const auto figures = run_rounds(federation, buffered);
  REQUIRE(figures.ok());
  CHECK(figures->round_s == std::vector<double>{8, 5, 5});
  CHECK(figures->end_ns == 18 * second);
  CHECK(figures->age == doctest::Approx(2.0 / 3));
  // A server that takes 7 s for each is what they wait for: 12, 19 and 26 s.
  federation.task.server_ns = 7 * second;
  const auto slow = run_rounds(federation, buffered);
  REQUIRE(slow.ok());
  CHECK(slow->end_ns == 26 * second);
}
