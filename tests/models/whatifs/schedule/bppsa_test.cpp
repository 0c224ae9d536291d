#include "tests/models/toy_run.h"

namespace foretrace::optimizations {
extern const OptimizationInfo bppsa;
}

using foretrace::ErrorCode;
using foretrace::Phase;
using foretrace::optimizations::bppsa;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::span_ns;
using foretrace::test::ToyRun;

namespace {

foretrace::TaskGraph chain(int stages) {
  ToyRun run;
  run.kernel({.name = "forward", .duration_ns = 100});
  for (int i = 0; i < stages; ++i) {
    run.kernel({.name = "backward", .duration_ns = 100, .phase = Phase::backward});
  }
  run.synchronize();
  return run.build();
}

}  // namespace

TEST_CASE("bppsa: with equal costs the time is the number of levels") {
  // 64 stages: 2 x ceil(log2(65)) - 1 = 13 levels; 512: 19.
  for (const auto& [stages, levels] : {std::pair{64, 13}, std::pair{512, 19}}) {
    const auto scan = after(chain(stages), bppsa, {{"select", "phase=backward"}});
    CHECK(count_of(scan, "level of the scan") == static_cast<std::size_t>(levels));
    CHECK(span_ns(scan) == 100 + 100 * levels);
  }
}

TEST_CASE("bppsa: few workers take a wide level in rounds, dear products lose") {
  // 7 stages: 4 + 2 + 1 products up, 2 + 4 down: with 2 workers 2 + 1 + 1 + 1 + 2 rounds.
  const auto scan = after(chain(7), bppsa, {{"select", "phase=backward"}, {"workers", "2"}});
  CHECK(span_ns(scan) == 100 + 100 * 7);
  const auto dear = after(chain(64), bppsa, {{"select", "phase=backward"}, {"combine", "10"}});
  CHECK(span_ns(dear) > span_ns(chain(64)));
}

TEST_CASE("bppsa: short chains and inference are declined") {
  CHECK_FALSE(apply_to(chain(3), bppsa, {{"select", "phase=backward"}}).ok());
  ToyRun run;
  run.kernel({.name = "forward", .duration_ns = 100});
  const auto declined = apply_to(run.build(), bppsa, {{"select", "kind=kernel"}});
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
}
