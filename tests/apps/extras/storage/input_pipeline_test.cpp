#include "apps/extras/storage/input_pipeline.h"

#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace foretrace::storage;

namespace {

// Items 0 to n-1 in every epoch, 1 byte each; a byte takes 1 ns from the cache, 10 from remote.
InputOrder order_of(std::uint32_t items, int epochs) {
  InputOrder order;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    for (std::uint32_t i = 0; i < items; ++i) order.accesses.push_back({.item = i, .bytes = 1});
    order.epoch_ends.push_back(order.accesses.size());
  }
  find_next_uses(order.accesses);
  return order;
}

InputOptions options_of(double cache_bytes, std::int64_t step_ns) {
  return {.cache = {0, 1e9},
          .remote = {0, 1e8},
          .kept = {.bytes = cache_bytes},
          .batch = 2,
          .workers = 1,
          .prefetch = 1,
          .decode_ns = 0,
          .step_ns = step_ns};
}

}  // namespace

TEST_CASE("input pipeline: a step waits for what its batch lacks") {
  // Batches of 2 items take 20 from remote. One batch at a time: the next is made while the step
  // runs (15), so that the first waits 20 and the others 5.
  const auto epochs = run_input(order_of(6, 1), options_of(0, 15));
  REQUIRE(epochs.size() == 1);
  CHECK(epochs[0].steps == 3);
  CHECK(epochs[0].hits == 0);
  CHECK(epochs[0].stall_ns == 20 + 5 + 5);
  CHECK(epochs[0].time_ns == 3 * 15 + 30);
  CHECK(epochs[0].remote_bytes == 6);
}

TEST_CASE("input pipeline: with room for all nothing is missed after the first epoch") {
  const auto epochs = run_input(order_of(6, 3), options_of(1e9, 15));
  REQUIRE(epochs.size() == 3);
  CHECK(epochs[0].hits == 0);
  for (const std::size_t later : {1U, 2U}) {
    CHECK(epochs[later].hits == epochs[later].reads);
    CHECK(epochs[later].remote_bytes == 0);
    CHECK(epochs[later].stall_ns == 0);  // 2 a batch, 15 a step
    CHECK(epochs[later].time_ns == 3 * 15);
  }
}

TEST_CASE("input pipeline: workers share the bandwidth and not the latency") {
  InputOptions options = options_of(0, 0);
  options.remote = {100, 1e8};
  options.batch = 1;
  // One worker: 110 an item. Two: latencies together, 10 more for the second.
  CHECK(run_input(order_of(2, 1), options)[0].time_ns == 220);
  options.workers = 2;
  CHECK(run_input(order_of(2, 1), options)[0].time_ns == 120);
}

TEST_CASE("input pipeline: a deeper queue covers a batch that is slow") {
  // Steps of 15. Batches of items 0 and 1 hit after the first (2), the last one misses (20).
  InputOrder order;
  for (const std::uint32_t item : {0U, 1U, 0U, 1U, 0U, 1U, 0U, 1U, 2U, 3U}) {
    order.accesses.push_back({.item = item, .bytes = 1});
  }
  order.epoch_ends = {order.accesses.size()};
  find_next_uses(order.accesses);
  // One in flight: batch 4 (20) begins when step 3 does: it waits 5. The first waits 20.
  CHECK(run_input(order, options_of(1e9, 15))[0].stall_ns == 25);
  InputOptions deep = options_of(1e9, 15);
  deep.prefetch = 3;
  CHECK(run_input(order, deep)[0].stall_ns == 20);
}

TEST_CASE("input pipeline: a batch does not reach into the next epoch") {
  const auto epochs = run_input(order_of(3, 2), options_of(0, 0));
  CHECK(epochs[0].steps == 2);
  CHECK(epochs[1].steps == 2);
}

TEST_CASE("input pipeline: shuffled epochs hit as often as the law of their order says") {
  // An item read at the share u of an epoch and v of the next has 1 - u (1 - v) of all items
  // between both. With room for the share f it is still there if that is below f: for u, v even and
  // independent with the probability f + (1 - f) ln(1 - f).
  constexpr std::uint32_t items = 20000;
  InputOrder order;
  std::mt19937_64 random(1);
  std::vector<std::uint32_t> numbers(items);
  for (std::uint32_t i = 0; i < items; ++i) numbers[i] = i;
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (std::size_t i = items; i > 1; --i) std::swap(numbers[i - 1], numbers[random() % i]);
    for (const std::uint32_t item : numbers) order.accesses.push_back({.item = item, .bytes = 1});
    order.epoch_ends.push_back(order.accesses.size());
  }
  find_next_uses(order.accesses);
  for (const double share : {0.25, 0.5, 0.75}) {
    const auto epochs = run_input(order, options_of(share * items, 15));
    const double hits = static_cast<double>(epochs[1].hits) / items;
    CHECK(hits == doctest::Approx(share + (1 - share) * std::log(1 - share)).epsilon(0.05));
  }
}

TEST_CASE("input pipeline: less is read from remote with a larger cache of a scan with reuse") {
  const InputOrder order = order_of(64, 4);
  double last = 1e300;
  for (const double bytes : {0.0, 16.0, 32.0, 64.0, 128.0}) {
    double remote = 0;
    for (const EpochFigures& epoch : run_input(order, options_of(bytes, 15))) {
      remote += epoch.remote_bytes;
    }
    CHECK(remote <= last);
    last = remote;
  }
  CHECK(last == 64);
}
