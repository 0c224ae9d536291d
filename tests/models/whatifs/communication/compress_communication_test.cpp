#include "models/hardware/costs/rates.h"
#include "tests/models/toy_job.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& compress_communication;
}

using foretrace::ErrorCode;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::Given;
using foretrace::test::span_ns;
using foretrace::test::toy_accelerator;
using foretrace::test::toy_job;
using foretrace::test::ToyRun;
using foretrace::what_ifs::compress_communication;

namespace {

constexpr std::int64_t us = 1'000;

foretrace::TaskGraph job(std::int64_t bytes) {
  return toy_job(
      {.before = {100 * us, 300 * us}, .transfer = 2020 * us, .after = 50 * us, .bytes = bytes});
}

}  // namespace

TEST_CASE("compress_communication: a free codec leaves latency and ratio x the rest") {
  // 20 us stay, 2000 us become 500.
  const Given free = {{"ratio", "0.25"}, {"encode_cost", "0"}, {"decode_cost", "0"}};
  CHECK(span_ns(after(job(-1), compress_communication, free)) == (300 + 20 + 500 + 50) * us);
}

TEST_CASE("compress_communication: codecs take time on the streams that make and use the data") {
  const auto accelerator = toy_accelerator();
  const auto graph = job(200'000'000);
  const std::int64_t free =
      span_ns(after(graph, compress_communication, {{"encode_cost", "0"}, {"decode_cost", "0"}}));
  CHECK(free == (300 + 20 + 1000 + 50) * us);
  const double bandwidth =
      accelerator.memory_bandwidth * bandwidth_share(foretrace::KernelClass::elementwise);
  const auto codec_ns = [&](double bytes) { return bytes / bandwidth * 1e9; };
  // Encoding moves 3.5 x 200 MB before the late rank arrives, decoding 1.5 x 200 MB before its use.
  const std::int64_t both = span_ns(after(graph, compress_communication, {}, &accelerator));
  CHECK(static_cast<double>(both - free) == doctest::Approx(codec_ns(5.0 * 200e6)).epsilon(0.02));
  const std::int64_t decode =
      span_ns(after(graph, compress_communication, {{"encode_cost", "0"}}, &accelerator));
  CHECK(static_cast<double>(decode - free) == doctest::Approx(codec_ns(1.5 * 200e6)).epsilon(0.05));
}

TEST_CASE(
    "compress_communication: bytes that are not recorded follow from the link, or are asked "
    "for") {
  const auto accelerator = toy_accelerator();
  const auto unknown = apply_to(job(-1), compress_communication, {}, &accelerator);
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().code == ErrorCode::missing_cost);
  // 2020 us at 100 GB/s are 202 MB.
  CHECK(span_ns(after(job(-1), compress_communication, {{"link_bandwidth", "100 GB/s"}},
                      &accelerator)) ==
        span_ns(after(job(202'000'000), compress_communication, {}, &accelerator)));
}

TEST_CASE("compress_communication: declines without collectives, and where all are short") {
  ToyRun run;
  run.kernel({.name = "gemm", .duration_ns = 100});
  CHECK_FALSE(apply_to(run.build(), compress_communication).ok());
  const auto short_ones = apply_to(job(1), compress_communication, {{"at_least", "3 ms"}});
  REQUIRE_FALSE(short_ones.ok());
  CHECK(short_ones.error().code == ErrorCode::no_match);
}

TEST_CASE("compress_communication: one rank alone, waiting for the others stays") {
  using foretrace::CollectiveKind;
  using foretrace::TaskKind;
  ToyRun run;
  const auto compute = run.stream();
  const auto network = run.add_stream(20);
  const auto world = run.builder().add_communicator({"world", 4, {0}});
  // The same bytes in 1020 and 5020 us: the second time the others came 4 ms later.
  for (const std::int64_t duration : {1020 * us, 5020 * us}) {
    run.use_stream(compute);
    const auto made = run.kernel({.name = "gemm", .duration_ns = 100 * us});
    run.use_stream(network);
    const auto reduced = run.kernel({.name = "ncclDevKernel_AllReduce",
                                     .duration_ns = duration,
                                     .kind = TaskKind::collective,
                                     .collective = CollectiveKind::all_reduce,
                                     .communicator = world,
                                     .bytes = 1 << 20});
    run.wait_for(reduced, made);
    run.use_stream(compute);
    run.wait_for(run.kernel({.name = "use", .duration_ns = 100 * us}), reduced);
  }
  const auto graph = run.build();
  const Given free = {{"ratio", "0.5"}, {"encode_cost", "0"}, {"decode_cost", "0"}};
  const auto compressed = after(graph, compress_communication, free);
  // 20 us of latency stay, 1000 us of each become 500; 4 ms of waiting stay.
  CHECK(span_ns(graph) - span_ns(compressed) == 2 * 500 * us);
  const auto change = apply_to(graph, compress_communication, free);
  REQUIRE(change.ok());
  CHECK(change->notes[0].find("4.00 ms of these are waiting") != std::string::npos);
}
