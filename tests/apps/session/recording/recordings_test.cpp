// Small recordings made up after what people reported: for each the right answer is known
// (tests/fixtures/recordings/README.md).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/questions/compare/communication.h"
#include "apps/questions/compare/compare.h"
#include "apps/session/predict.h"
#include "apps/session/recording/inspect.h"
#include "apps/session/replay/analysis.h"
#include "tests/apps/support/json_schema.h"
#include "tests/apps/support/program.h"

namespace foretrace {
namespace {

using nlohmann::json;

const std::string folder = std::string(FORETRACE_SOURCE_DIR) + "/tests/fixtures/recordings/";

struct Loaded {
  Session session;
  const Recording& recording = session.recording();
  const Replay& replay = session.replay();
};

Loaded load_recordings(const std::vector<std::string>& names) {
  std::vector<std::string> paths;
  for (const std::string& name : names) paths.push_back(folder + name);
  Result<Session> session = open(paths);
  REQUIRE_MESSAGE(session.ok(), (session.ok() ? std::string() : session.error().message));
  return {*std::move(session)};
}

json document_of(const std::string& arguments, int code = 0) {
  const test::Ran ran = test::run_program(arguments + " --json");
  INFO(ran.err);
  REQUIRE(ran.code == code);
  return json::parse(ran.out);
}

const std::string stages = folder + "pp_rank0.json.gz " + folder + "pp_rank1.json.gz " + folder +
                           "pp_rank2.json.gz " + folder + "pp_rank3.json.gz";

bool has_flag(const Loaded& run, const std::string& flag) {
  const auto& flags = run.recording.built.honesty.flags;
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

bool has_doubt(const Loaded& run, const std::string& words) {
  return std::any_of(run.replay.doubts.begin(), run.replay.doubts.end(), [&](const Doubt& doubt) {
    return doubt.text.find(words) != std::string::npos;
  });
}

double ms(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

}  // namespace

TEST_CASE("recordings: stages of a pipeline wait for each other, and no clock moves") {
  const Loaded job = load_recordings(
      {"pp_rank0.json.gz", "pp_rank1.json.gz", "pp_rank2.json.gz", "pp_rank3.json.gz"});
  CHECK(std::abs(job.replay.error) < 0.001);
  const JobFacts& facts = *job.recording.job;
  for (const trace::RankClock& clock : facts.matching.clocks) CHECK(clock.offset_ns == 0);
  // 4 steps of 8 messages forward and 8 back between each of 3 pairs of neighbours.
  CHECK(facts.matching.collectives.size() == 192);
  const Communication cost = communication_of(job.session);
  CHECK(cost.matched == cost.collectives);
  std::int64_t transfer = 0;
  std::int64_t waiting = 0;
  for (const CommunicationRow& row : cost.rows) {
    CHECK(row.complete);
    transfer += row.transfer_ns;
    waiting += row.waiting_ns;
  }
  CHECK(ms(transfer) < 192 * 0.08);  // a send of 20 us, and at most 53 from it to the receive's end
  CHECK(ms(waiting) > 180);
  // What transfers cost at all: nearly nothing.
  const Analysis& analysis = job.session.analysis();
  REQUIRE(analysis.free_transfers_ns.has_value());
  CHECK(ms(*analysis.free_transfers_ns) < 1.1);
}

TEST_CASE("recordings: a network without time saves a pipeline a millisecond at most") {
  const json found = document_of("whatif " + stages + " --apply communication_scale:factor=0");
  const double before = found["baseline"]["step_ns"].get<double>() / 1e6;
  const double after = found["predicted"]["step_ns"].get<double>() / 1e6;
  CHECK(before == doctest::Approx(69.99).epsilon(0.001));
  CHECK(before - after < 1.1);
}

TEST_CASE("recordings: no step is below what one stream does in it") {
  const json found = document_of("whatif " + folder +
                                 "two_streams_12steps.json.gz --apply remove_synchronization");
  CHECK(found["predicted"]["step_ns"].get<double>() >= 24e6);
  CHECK(found["predicted"]["step_ns"].get<double>() <= 24.3e6);
}

TEST_CASE("recordings: runs of a CPU alone compare by what the host does") {
  const Loaded before = load_recordings({"cpu_before.json"});
  const Loaded after = load_recordings({"cpu_after.json"});
  const auto comparison = compare_runs(compared_run(before.session), compared_run(after.session));
  REQUIRE(comparison.ok());
  CHECK(ms(comparison->before_ns) == doctest::Approx(440));
  CHECK(ms(comparison->after_ns) == doctest::Approx(400));
  const auto part = [&](const std::string& name) -> const Compared* {
    for (const Compared& reason : comparison->reasons) {
      for (const Compared& one : reason.parts) {
        if (one.names.back() == name) return &one;
      }
    }
    return nullptr;
  };
  REQUIRE(part("aten::addmm") != nullptr);
  CHECK(ms(part("aten::addmm")->before_ns) == doctest::Approx(264));
  CHECK(ms(part("aten::addmm")->after_ns) == doctest::Approx(240));
  REQUIRE(part("aten::relu") != nullptr);
  CHECK(ms(part("aten::relu")->before_ns) == doctest::Approx(88));
  CHECK(ms(part("aten::relu")->after_ns) == doctest::Approx(80));
}

TEST_CASE("recordings: asynchronous copies of a TPU are hidden behind its operations") {
  const Loaded tpu = load_recordings({"tpu_async.xplane.pb"});
  CHECK(ms(tpu.replay.run.answer.step_ns) == doctest::Approx(10).epsilon(0.001));
  CHECK(tpu.replay.doubts.empty());
}

TEST_CASE("recordings: kernels over later ones of their stream are cut, and their sum is right") {
  const Loaded run = load_recordings({"overflow.json.gz"});
  std::int64_t sum = 0;
  const TaskGraph& graph = run.recording.graph();
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    const bool counts = graph.name(task).find("fmha_bwd") != std::string_view::npos;
    sum += counts ? graph.duration_ns(task) : 0;
  }
  const auto steps = static_cast<double>(graph.context().steps.size());
  CHECK(ms(sum) / steps == doctest::Approx(4).epsilon(0.03));
  CHECK(has_flag(run, "9 kernels recorded to overlap later ones of their stream"));
}

TEST_CASE("recordings: kernels before their launch move by what the device's clock is behind") {
  // Behind by 300 us: the first kernel of each step begins 80 us after its call, so 220 us before
  // it on that clock; the others wait for it and begin later than they are launched.
  const Loaded run = load_recordings({"before_launch.json.gz"});
  CHECK(std::abs(run.replay.error) < 0.005);
  CHECK(has_flag(run,
                 "device clock behind the host's: 4 of 80 operations began before their "
                 "launch, moved by 226 us"));
}

TEST_CASE("recordings: a step whose kernels were lost is still as long, and doubtful") {
  const Loaded run = load_recordings({"collapse.json.gz"});
  CHECK(ms(run.replay.run.answer.step_ns) == doctest::Approx(8.99).epsilon(0.001));
  CHECK(run.replay.run.answer.left_out == 0);
  CHECK(has_doubt(run, "1200 of 1280 launches have no kernel record"));
}

TEST_CASE("recordings: kernels left at time 0 are dropped, and it is said") {
  const Loaded run = load_recordings({"ts0_epoch.json.gz"});
  CHECK(ms(run.replay.run.answer.step_ns) == doctest::Approx(9.99).epsilon(0.001));
  CHECK(has_doubt(run, "27 of 80 launches have no kernel record"));
  const test::Ran said = test::run_program("simulate " + folder + "ts0_epoch.json.gz");
  CHECK(said.out.find("27 dropped") != std::string::npos);
}

TEST_CASE("recordings: launches without kernels are told with what usually causes them") {
  const Loaded run = load_recordings({"launches_without_kernels.json"});
  CHECK(has_doubt(run, "none of 60 launches has a kernel record"));
  CHECK(has_doubt(run, "permission"));
  const test::Ran said = test::run_program("simulate " + folder + "launches_without_kernels.json");
  CHECK(said.out.find("NVIDIA A100-SXM4-80GB") != std::string::npos);
  CHECK(said.out.find("unknown accelerator") == std::string::npos);
}

TEST_CASE("recordings: the creation of a context is a one-off that can be left out") {
  const test::Ran said =
      test::run_program("simulate --without-one-off " + folder + "startup_call.json");
  CHECK(said.out.rfind("span 2.170 ms", 0) == 0);
  CHECK(said.out.find("2.114 s in cudaMalloc") != std::string::npos);
  CHECK(load_recordings({"startup_call.json"}).replay.run.answer.step_ns > 2'114'000'000);
}

TEST_CASE("recordings: a snapshot says the same with and without the question for memory") {
  const json plain = document_of("inspect " + folder + "nohist_frag.pickle");
  const json asked = document_of("inspect --memory " + folder + "nohist_frag.pickle");
  constexpr std::int64_t gib = std::int64_t{1} << 30;
  for (const json* const found : {&plain, &asked}) {
    const json& memory = (*found)["traces"][0]["memory"];
    CHECK(memory["reserved_bytes"] == 20 * gib);
    CHECK(memory["at_end"]["allocated_bytes"] == 10 * gib);
    CHECK(memory["at_end"]["reserved_bytes"] == 20 * gib);
    CHECK(memory["at_end"]["free_bytes"] == 10 * gib);
    CHECK(memory["at_end"]["largest_free_bytes"] == gib);
    CHECK(memory["at_end"]["free_pieces"] == 10);
    for (const std::string& violation :
         test::violations(test::read_schema("inspect-1.json"), *found)) {
      FAIL_CHECK(violation);
    }
  }
  CHECK(asked["traces"][0]["device_memory"]["devices"][0]["reserved"]["expected_bytes"] ==
        20 * gib);
  const test::Ran said = test::run_program("inspect --memory " + folder + "nohist_frag.pickle");
  CHECK(said.out.find("20.0 GiB reserved") != std::string::npos);
  CHECK(said.out.find("10.0 GiB free in them") != std::string::npos);
}

TEST_CASE("recordings: a request that failed is told with who asked, who holds and why") {
  for (const char* const command : {"inspect ", "inspect --memory "}) {
    const test::Ran said = test::run_program(command + folder + "oom_frag.pickle");
    CHECK(said.out.find("3.0 GiB by model.py:99 logits failed") != std::string::npos);
    CHECK(said.out.find("400.0 MiB left on the device") != std::string::npos);
    CHECK(said.out.find("model.py:54") != std::string::npos);
    CHECK(said.out.find("fragmentation") != std::string::npos);
  }
  const json found = document_of("inspect " + folder + "oom_frag.pickle");
  const json& failed = found["traces"][0]["memory"]["failed"][0];
  CHECK(failed["bytes"] == 3LL << 30);
  CHECK(failed["line"] == "model.py:99 logits");
  CHECK(failed["is_fragmented"] == true);
}

}  // namespace foretrace
