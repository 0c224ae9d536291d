#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& pinned_copies;
}

using foretrace::ErrorCode;
using foretrace::TaskGraph;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::duration_of;
using foretrace::test::span_ns;
using foretrace::test::ToyRun;
using foretrace::what_ifs::pinned_copies;

namespace {

// A copy of 12 MB from pageable memory in 3 ms, then a kernel of 2 ms, while the host works for
// 4 ms; another stream waits for the kernel.
TaskGraph loading(std::string_view copy) {
  ToyRun run;
  const auto side = run.add_stream(9);
  run.blocking_copy(copy, 3'000'000, 12'000'000);
  const auto kernel = run.kernel({.name = "conv", .duration_ns = 2'000'000});
  run.bystander(side, kernel, 100'000);
  run.mark("end", 4'000'000);
  run.synchronize();
  return run.build();
}

}  // namespace

TEST_CASE("pinned_copies: the host goes on, and the kernel still waits for its input") {
  const auto graph = loading("Memcpy HtoD (Pageable -> Device)");
  CHECK(span_ns(graph) == 7'000'000);  // 3 ms of waiting, then 4 ms of the host
  const auto pinned = after(graph, pinned_copies, {{"bandwidth", "12 GB/s"}});
  // 12 MB at 12 GB/s: 1 ms, then the kernel; the host's 4 ms are longer.
  CHECK(duration_of(pinned, "Memcpy HtoD (Pageable -> Device)") == 1'000'000);
  CHECK(span_ns(pinned) == 4'000'000);
  const auto slow = after(graph, pinned_copies, {{"bandwidth", "1 GB/s"}});
  CHECK(duration_of(slow, "Memcpy HtoD (Pageable -> Device)") == 3'000'000);
  CHECK(span_ns(slow) == 5'100'000);  // copy, kernel, and what waits for it
}

TEST_CASE("pinned_copies: pinned ones, results that the host reads, and small ones stay") {
  for (const char* copy : {"Memcpy HtoD (Pinned -> Device)", "Memcpy DtoH (Device -> Pageable)"}) {
    const auto declined = apply_to(loading(copy), pinned_copies);
    REQUIRE_FALSE(declined.ok());
    CHECK(declined.error().code == ErrorCode::no_match);
  }
  CHECK_FALSE(
      apply_to(loading("Memcpy HtoD (Pageable -> Device)"), pinned_copies, {{"least", "1 GiB"}})
          .ok());
}
