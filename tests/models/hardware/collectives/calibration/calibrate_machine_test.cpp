#include "models/hardware/collectives/calibration/calibrate_machine.h"

#include <doctest/doctest.h>

#include "models/hardware/collectives/collective_costs.h"
#include "models/hardware/networks/cluster.h"
#include "models/hardware/networks/placement.h"
#include "tests/configs.h"

using namespace foretrace;

namespace {

/// T = 30 us + bytes / 100 GB/s.
MeasuredRun run_of(CollectiveKind kind, std::uint32_t ranks, std::uint32_t nodes) {
  MeasuredRun run{.log = {.kind = kind, .ranks = ranks, .nodes = nodes}, .source = "made up"};
  for (double bytes = 65536; bytes < 2e9; bytes *= 2) {
    run.log.bytes.push_back(bytes);
    run.log.ns.push_back(30e3 + bytes / 100);
  }
  return run;
}

std::string error_of(const MeasuredRun& run) {
  const auto made = calibrate_machine(*test::shipped(), "dgx_h100", std::vector{run});
  return made.ok() ? "" : made.error().message;
}

}  // namespace

TEST_CASE("calibrate: a machine answers with what was measured of it, and keeps the rest") {
  const std::vector runs = {run_of(CollectiveKind::all_reduce, 16, 2),
                            run_of(CollectiveKind::all_reduce, 8, 1)};
  const auto made = calibrate_machine(*test::shipped(), "dgx_h100", runs);
  REQUIRE_MESSAGE(made.ok(), made.error().message);
  const auto base = *find_cluster(*test::shipped(), "dgx_h100");
  const auto machine = parse_cluster(*test::shipped(), made->text, "mine.json");
  REQUIRE_MESSAGE(machine.ok(), machine.error().message);
  for (const std::uint32_t nodes : {1U, 2U}) {
    const CollectiveCall call{CollectiveKind::all_reduce, 1 << 20, place_alone(*machine, nodes, 8)};
    const CollectiveTime time = collective_time(*machine, call);
    CHECK(time.is_curve);
    CHECK(time.ns == doctest::Approx(30e3 + call.bytes / 100));
  }
  // One curve of eight ranks in place of the old one, one new.
  CHECK(machine->curves.size() == base.curves.size() + 1);
  CHECK(machine->name == "mine");
  CHECK(machine->nodes == base.nodes);
  CHECK_FALSE(machine->is_usual);
  const CollectiveCall other{CollectiveKind::all_gather, 1e9, place_alone(base, 4, 8)};
  CHECK(collective_time(*machine, other).ns == collective_time(base, other).ns);
  REQUIRE(made->errors.size() == 2);
  CHECK(made->errors[0].before.mean > 0.1);
  CHECK(made->errors[0].held_back.mean < made->errors[0].before.mean);
  CHECK(made->errors[0].held_back.rows == 7);
}

TEST_CASE("calibrate: held-back sizes are judged by the others alone") {
  MeasuredRun run = run_of(CollectiveKind::all_reduce, 16, 2);
  // Where every second time is twice as long, its neighbours say half.
  for (std::size_t i = 1; i < run.log.ns.size(); i += 2) run.log.ns[i] *= 2;
  const auto made = calibrate_machine(*test::shipped(), "dgx_h100", std::vector{run});
  REQUIRE(made.ok());
  CHECK(made->errors[0].held_back.mean > 0.35);
}

TEST_CASE("calibrate: sizes faster than the links are set aside; few are left of none") {
  MeasuredRun run = run_of(CollectiveKind::all_gather, 8, 1);
  run.log.ns[12] = run.log.bytes[12] / 1000;  // 1 TB/s
  run.log.damaged = 2;
  const auto made = calibrate_machine(*test::shipped(), "dgx_h100", std::vector{run});
  REQUIRE(made.ok());
  CHECK(made->errors[0].set_aside == 1);
  CHECK(made->errors[0].damaged == 2);
  CHECK(made->errors[0].before.rows == run.log.bytes.size() - 1);
  for (std::size_t i = 0; i < run.log.ns.size(); ++i) run.log.ns[i] = run.log.bytes[i] / 1000;
  CHECK(error_of(run) ==
        "made up: got 0 sizes that the links of dgx_h100 can carry, expected at least 3");
}

TEST_CASE("calibrate: a run that does not say what it is, or is of another machine, is one line") {
  CHECK(error_of(run_of(CollectiveKind::none, 16, 2)) ==
        "made up: it does not say which collective, expected the name of its program such as "
        "all_reduce_perf");
  CHECK(error_of(run_of(CollectiveKind::all_reduce, 0, 0)) ==
        "made up: it does not say how many ranks on how many nodes, expected a line of each");
  for (const auto& group : {std::pair{17U, 2U}, {16U, 1U}, {1U, 1U}, {8192U, 1024U}}) {
    CAPTURE(group.first);
    CHECK(error_of(run_of(CollectiveKind::all_reduce, group.first, group.second))
              .find("alike on at most 512") != std::string::npos);
  }
}
