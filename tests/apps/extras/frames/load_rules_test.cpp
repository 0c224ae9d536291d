#include "apps/extras/frames/load_rules.h"

#include <vector>

#include <doctest/doctest.h>

using namespace foretrace::streams;

TEST_CASE("load rules: the percentile is the smallest time that enough queries keep") {
  // Ten times: nine of ten are at most 90, 99 % only the longest.
  const std::vector<std::int64_t> times = {100, 10, 20, 90, 30, 40, 50, 60, 80, 70};
  CHECK(nearest_rank(times, 0.9) == 90);
  CHECK(nearest_rank(times, 0.91) == 100);
  CHECK(nearest_rank(times, 0.99) == 100);
  CHECK(nearest_rank(times, 0.5) == 50);
  CHECK(nearest_rank(times, 0) == 10);
  CHECK(nearest_rank({}, 0.9) == 0);
}

TEST_CASE("load rules: a single stream waits for each query") {
  // Every tenth query takes 5 us instead of 1 us: 90 % keep 1 us; 14 us for ten queries.
  int calls = 0;
  const auto time = [&calls](std::int64_t) -> std::int64_t {
    return ++calls % 10 == 0 ? 5000 : 1000;
  };
  const LoadFigures figures = single_stream(time, 100, 0.9);
  CHECK(figures.percentile_ns == 1000);
  CHECK(figures.mean_ns == doctest::Approx(1400));
  CHECK(figures.samples_per_s == doctest::Approx(1e9 / 1400));
  CHECK(single_stream(time, 100, 0.91).percentile_ns == 5000);
}

TEST_CASE("load rules: several streams skip the intervals at which the last query still runs") {
  // Queries of 8 samples every 10; they take 8, 8, 25, 8: the third passes intervals 30 and 40.
  const std::vector<std::int64_t> took = {8, 8, 25, 8};
  std::size_t call = 0;
  std::int64_t asked = 0;
  const auto time = [&](std::int64_t samples) {
    asked = samples;
    return took[call++];
  };
  const LoadFigures figures = multi_stream(time, {8, 10}, 4, 0.75);
  CHECK(asked == 8);
  CHECK(figures.skipped == 2);
  CHECK(figures.percentile_ns == 8);
  // The fourth begins at 50 and ends at 58.
  CHECK(figures.samples_per_s == doctest::Approx(32 / 58e-9));
}

TEST_CASE("load rules: offline is the rate of full batches, and of what is left") {
  // 10 samples in batches of 4: 4, 4, 2, each 100 + 10 per sample.
  const auto time = [](std::int64_t samples) -> std::int64_t { return 100 + 10 * samples; };
  CHECK(offline(time, 10, 4).samples_per_s == doctest::Approx(10 / 400e-9));
}

TEST_CASE("load rules: a server of one query at a time waits as the queueing formula says") {
  // Exponential arrivals and a constant time s at load u: mean wait u s / (2 (1 - u)).
  const auto time = [](std::int64_t) -> std::int64_t { return 1'000'000; };
  for (const double load : {0.3, 0.6, 0.8}) {
    const LoadFigures figures =
        server(time, {.queries_per_s = load * 1000, .queries = 400'000, .seed = 7});
    const double wait = load / (2 * (1 - load)) * 1e6;
    CHECK(figures.mean_ns - 1e6 == doctest::Approx(wait).epsilon(0.04));
  }
}

TEST_CASE("load rules: the highest rate keeps the bound, and a little more does not") {
  const auto time = [](std::int64_t samples) -> std::int64_t {
    return 1'000'000 + 100'000 * samples;
  };
  ServerOptions options{.queries = 20'000, .largest_batch = 8, .share = 0.99, .seed = 3};
  const auto rate = highest_rate(time, options, 5'000'000);
  REQUIRE(rate);
  options.queries_per_s = *rate;
  CHECK(server(time, options).percentile_ns <= 5'000'000);
  options.queries_per_s = *rate * 1.01;
  CHECK(server(time, options).percentile_ns > 5'000'000);
  // Batches of 8 take 1.8 ms: never more than 4,444 per second in the long run.
  CHECK(*rate < 4500);
  CHECK_FALSE(highest_rate(time, options, 1'000'000));
}

TEST_CASE("load rules: too few queries for a bound tell no rate") {
  const auto time = [](std::int64_t samples) -> std::int64_t {
    return 1'000'000 + 100'000 * samples;
  };
  // 100 queries at once are 13 batches: at most 23.4 ms.
  ServerOptions options{.queries = 100, .largest_batch = 8, .share = 0.99, .seed = 3};
  CHECK(burst_keeps(time, options, 25'000'000));
  CHECK_FALSE(highest_rate(time, options, 25'000'000));
  // With a bound a little shorter a burst does not keep it, but more than batches sustain would.
  CHECK_FALSE(burst_keeps(time, options, 22'000'000));
  const auto rate = highest_rate(time, options, 22'000'000);
  REQUIRE(rate);
  CHECK(best_batch_rate(time, options) == doctest::Approx(8 / 1.8e-3));
  CHECK(*rate <= best_batch_rate(time, options));
}

TEST_CASE("load rules: what batches sustain is the rate of the best of them") {
  // Four together take 2 ms, eight take 10 ms.
  const auto time = [](std::int64_t samples) -> std::int64_t {
    return samples <= 4 ? 2'000'000 : 10'000'000;
  };
  CHECK(best_batch_rate(time, {.queries = 100, .largest_batch = 8}) == doctest::Approx(2000));
}

TEST_CASE("load rules: waiting samples are taken together") {
  // Both come at once after a long first one.
  const auto time = [](std::int64_t samples) -> std::int64_t { return samples == 1 ? 100 : 150; };
  const LoadFigures together =
      server(time, {.queries_per_s = 1e12, .queries = 3, .largest_batch = 8, .share = 1});
  CHECK(together.percentile_ns <= 250);
  const LoadFigures apart =
      server(time, {.queries_per_s = 1e12, .queries = 3, .largest_batch = 1, .share = 1});
  CHECK(apart.percentile_ns >= 298);
}
