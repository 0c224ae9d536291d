#include "tests/models/training_job.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& gradient_buckets;
}

using foretrace::ErrorCode;
using foretrace::TaskGraph;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::span_ns;
using foretrace::test::training_job;
using foretrace::test::TrainingJob;
using foretrace::what_ifs::gradient_buckets;

namespace {

constexpr const char* reduce = "ncclDevKernel_AllReduce";

// Forward 4 ms, backward 6 x 1 ms, all-reduces of 6 MB in 3 ms behind it, update 1 ms.
TrainingJob job_of(bool met) {
  return {.reduces = {{.bytes = 6'000'000, .ns = 3'000'000, .after = 6}}, .met = met};
}

}  // namespace

TEST_CASE("gradient_buckets: buckets leave during the backward pass, on every rank") {
  for (const bool met : {true, false}) {
    const TaskGraph graph = training_job(job_of(met));
    CHECK(span_ns(graph) == 14'000'000);
    // 1 MB is ready after each backward kernel and takes 0.5 ms: the last one ends 0.5 ms after the
    // backward pass.
    const auto changed =
        after(graph, gradient_buckets,
              {{"bucket", "1000000 B"}, {"first", "1000000 B"}, {"latency", "0 us"}});
    CHECK(count_of(changed, reduce) == (met ? 24 : 12));
    CHECK(span_ns(changed) == 11'500'000);
    // A latency of 0.1 ms of 3 ms: six buckets of 0.1 + 2.9 / 6 ms.
    const auto latent =
        after(graph, gradient_buckets,
              {{"bucket", "1000000 B"}, {"first", "1000000 B"}, {"latency", "100 us"}});
    CHECK(span_ns(latent) == doctest::Approx(11'583'333).epsilon(1e-6));
  }
}

TEST_CASE("gradient_buckets: ranks that are late hold up the others bucket by bucket") {
  TrainingJob job = job_of(true);
  job.forward = {4'000'000, 7'000'000};
  const auto changed = after(training_job(job), gradient_buckets,
                             {{"bucket", "2 MB"}, {"first", "2 MB"}, {"latency", "0 us"}});
  // The second rank ends its backward pass after 13 ms, the last third takes 1 ms, the update 1 ms.
  CHECK(span_ns(changed) == 15'000'000);
}

TEST_CASE(
    "gradient_buckets: recorded launches tell when gradients are ready, and may move to the end") {
  // 2 MB leave behind the second backward kernel, 4 MB behind the last one.
  const TrainingJob job{.reduces = {{.bytes = 2'000'000, .ns = 1'000'000, .after = 2},
                                    {.bytes = 4'000'000, .ns = 2'000'000, .after = 6}}};
  const TaskGraph graph = training_job(job);
  CHECK(span_ns(graph) == 13'000'000);
  // 4 MB in halves: the second megabyte pair is ready behind the fourth kernel.
  const auto halves =
      after(graph, gradient_buckets, {{"bucket", "2 MB"}, {"first", "2 MB"}, {"latency", "0 us"}});
  CHECK(span_ns(halves) == 12'000'000);
  const auto at_end = after(graph, gradient_buckets, {{"when", "end"}});
  CHECK(span_ns(at_end) == 14'000'000);
  const auto one =
      after(graph, gradient_buckets, {{"bucket", "1 GB"}, {"first", "1 GB"}, {"latency", "0 us"}});
  CHECK(count_of(one, reduce) == 4);
  CHECK(span_ns(one) == 14'000'000);
}

TEST_CASE("gradient_buckets: steps follow each other, and runs without collectives decline") {
  TrainingJob job = job_of(true);
  job.steps = 3;
  const auto changed = after(training_job(job), gradient_buckets,
                             {{"bucket", "1 MB"}, {"first", "1 MB"}, {"latency", "0 us"}});
  CHECK(span_ns(changed) == 34'500'000);
  const auto tiny = apply_to(training_job(job), gradient_buckets, {{"bucket", "1 kB"}});
  REQUIRE_FALSE(tiny.ok());
  CHECK(tiny.error().message ==
        "gradient_buckets: bucket: got 1000 B, expected 0 (as recorded) or at least 100 kB");
  const auto declined = apply_to(training_job({}), gradient_buckets);
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
}
