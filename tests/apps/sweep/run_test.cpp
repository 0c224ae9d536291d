#include "apps/sweep/run.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "apps/sweep/store/select.h"
#include "tests/apps/support/program.h"
#include "tests/configs.h"

namespace foretrace::sweeping {
namespace {

using test::scratch_file;

/// Where the tests run, which is not where they start.
std::string demo() { return std::filesystem::absolute(test::demo_trace).string(); }

/// 2 x 3 points: a what-if or none, and a factor.
std::string trace_sweep(const std::string& factors, const std::string& rest = "") {
  return R"({"schema": "foretrace.sweep/1", "trace": ")" + demo() +
         R"(", "apply": [null, {"optimization": "scale", "parameters": {"select": "kind=kernel", "factor": 1}}],
    "axes": [{"name": "precision", "pointer": "/apply/0", "values": [null, "mixed_precision"]},
             {"pointer": "/apply/1/parameters/factor", "values": [)" +
         factors + "]}]" + rest + "}";
}

Sweep sweep_of(const std::string& text) {
  auto sweep = parse_sweep(text, "test.json", "");
  REQUIRE_MESSAGE(sweep.ok(), (sweep.ok() ? "" : sweep.error().message));
  return std::move(*sweep);
}

Result<SweepRun> run_into(const std::string& folder, const std::string& text,
                          std::size_t threads = 2, const std::string& version = "1") {
  const Sweep sweep = sweep_of(text);
  return run_sweep(sweep, folder,
                   {.catalogue = test::shipped(), .threads = threads, .version = version});
}

struct Rows {
  SweepCounts counts;
  std::vector<SelectedPoint> points;
};
Rows rows_of(const std::string& folder, const PointQuestion& question = {}) {
  auto stored = open_stored(folder);
  REQUIRE(stored.ok());
  Rows rows;
  const auto counts = select_points(*stored, question, [&](const SelectedPoint& point) {
    rows.points.push_back(point);
    return ok_status();
  });
  REQUIRE(counts.ok());
  rows.counts = *counts;
  return rows;
}

}  // namespace

TEST_CASE("sweep: a point of a trace is what whatif answers") {
  const std::string folder = scratch_file("sweep_points");
  const auto run = run_into(folder, trace_sweep("0.5, 0.75, 0.9", R"(, "metrics": ["low_ns"])"));
  REQUIRE(run.ok());
  CHECK(run->computed == 6);
  const Rows rows = rows_of(folder);
  REQUIRE(rows.points.size() == 6);
  const auto asked = test::run_program(std::string("whatif ") + test::demo_trace +
                                       " --apply mixed_precision --apply "
                                       "\"scale:select='kind=kernel',factor=0.75\" --json");
  REQUIRE(asked.code == 0);
  const auto step = static_cast<std::int64_t>(rows.points[4].result.metrics[0]);
  CHECK(asked.out.find("\"step_ns\": " + std::to_string(step)) != std::string::npos);
  const auto low = static_cast<std::int64_t>(rows.points[4].result.metrics[3]);
  CHECK(asked.out.find("\"low_ns\": " + std::to_string(low)) != std::string::npos);
}

TEST_CASE("sweep: what is there is not computed again; threads change no row") {
  const std::string one = scratch_file("sweep_one");
  const std::string two = scratch_file("sweep_two");
  REQUIRE(run_into(one, trace_sweep("0.5, 0.75, 0.9"), 1).ok());
  REQUIRE(run_into(two, trace_sweep("0.5, 0.75, 0.9"), 3).ok());
  const Rows a = rows_of(one);
  const Rows b = rows_of(two);
  REQUIRE(a.points.size() == b.points.size());
  for (std::size_t i = 0; i < a.points.size(); ++i) {
    CHECK(a.points[i].result.metrics == b.points[i].result.metrics);
  }
  const auto again = run_into(one, trace_sweep("0.5, 0.75, 0.9"));
  REQUIRE(again.ok());
  CHECK(again->computed == 0);
  CHECK(again->found == 6);
}

TEST_CASE("sweep: a changed file keeps the rows of points that are still points") {
  const std::string folder = scratch_file("sweep_changed");
  REQUIRE(run_into(folder, trace_sweep("0.5, 0.75, 0.9")).ok());
  const auto run = run_into(folder, trace_sweep("0.9, 0.6, 0.5"));
  REQUIRE(run.ok());
  CHECK(run->old_rows == 6);
  CHECK(run->reused == 4);
  CHECK(run->computed == 2);
  const std::string fresh = scratch_file("sweep_unchanged");
  REQUIRE(run_into(fresh, trace_sweep("0.9, 0.6, 0.5")).ok());
  const Rows a = rows_of(folder);
  const Rows b = rows_of(fresh);
  REQUIRE(a.points.size() == 6);
  for (std::size_t i = 0; i < 6; ++i)
    CHECK(a.points[i].result.metrics == b.points[i].result.metrics);
}

TEST_CASE("sweep: results of another version, or of another sweep, are not touched") {
  const std::string folder = scratch_file("sweep_other");
  REQUIRE(run_into(folder, trace_sweep("0.5, 0.75")).ok());
  const auto version = run_into(folder, trace_sweep("0.5, 0.75"), 1, "2");
  REQUIRE_FALSE(version.ok());
  CHECK(version.error().message.find("of version '1' of the program") != std::string::npos);
  const auto other = run_into(folder, trace_sweep("0.1, 0.2"));
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().message.find("of another sweep") != std::string::npos);
  CHECK(rows_of(folder).points.size() == 4);
}

TEST_CASE("sweep: a point that fails is a row with its reason, the others go on") {
  const std::string folder = scratch_file("sweep_failing");
  const std::string text =
      R"({"schema": "foretrace.sweep/1", "trace": ")" + demo() +
      R"(", "apply": [null], "axes": [{"pointer": "/apply/0", "values": ["mixed_precision", "scale:select='name~no_such_kernel',factor=0.5"]}]})";
  REQUIRE(run_into(folder, text).ok());
  const Rows rows = rows_of(folder);
  CHECK(rows.counts.failed == 1);
  REQUIRE(rows.points.size() == 2);
  CHECK(rows.points[0].is_feasible);
  CHECK(rows.points[1].result.reason.find("scale: ") == 0);
  CHECK_FALSE(rows.points[1].is_feasible);
}

TEST_CASE("sweep: the Pareto front of a scenario has no point that another one beats") {
  const std::string folder = scratch_file("sweep_scenario");
  const std::string scenario =
      std::filesystem::absolute("configs/scenarios/gpt3_175b_selene.json").string();
  const std::string text = R"({"schema": "foretrace.sweep/1", "scenario": ")" + scenario + R"(",
    "axes": [{"pointer": "/recompute", "values": ["none", "selective", "full"]},
             {"pointer": "/batch/micro", "values": [1, 2, 3, 4]}],
    "constraints": ["micro != 3"], "objectives": ["step_ns", "memory_bytes"]})";
  const auto run = run_into(folder, text);
  REQUIRE(run.ok());
  CHECK(run->computed == 9);
  CHECK(run->unwanted == 3);
  const Rows all = rows_of(folder);
  const Rows front = rows_of(folder, {.pareto = true});
  REQUIRE_FALSE(front.points.empty());
  CHECK(front.points.size() < all.points.size());
  for (const SelectedPoint& best : front.points) {
    for (const SelectedPoint& other : all.points) {
      const bool is_better = other.is_feasible && other.objectives[0] < best.objectives[0] &&
                             other.objectives[1] < best.objectives[1];
      CHECK_FALSE(is_better);
    }
  }
  CHECK(rows_of(folder, {.top = 2}).points.size() == 2);
}

TEST_CASE("sweep: one process at a time writes a store") {
  const std::string folder = scratch_file("sweep_locked");
  const auto first = Store::open(folder);
  REQUIRE(first.ok());
  const auto second = Store::open(folder);
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().message.find("another sweep is writing here, process ") !=
        std::string::npos);
}

TEST_CASE("sweep: a folder that holds something else is refused") {
  const std::string folder = scratch_file("sweep_else");
  std::filesystem::create_directories(folder);
  std::ofstream(store_file(folder)) << std::string(5000, 'x');
  const auto store = Store::open(folder);
  REQUIRE_FALSE(store.ok());
  CHECK(store.error().message.find("is not an SQLite file") != std::string::npos);
  CHECK_FALSE(open_stored(scratch_file("sweep_nowhere")).ok());
}

TEST_CASE("sweep: a file that a what-if names is part of what the results are of") {
  namespace fs = std::filesystem;
  const std::string folder = scratch_file("sweep_named");
  const std::string own = scratch_file("own_t4.json");
  fs::copy_file("configs/accelerators/t4.json", own);
  const std::string text = R"({"schema": "foretrace.sweep/1", "trace": ")" + demo() +
                           R"(", "apply": ["accelerator_swap:to=')" + own +
                           R"('", null], "axes": [{"pointer": "/apply/1", "values": [null]}]})";
  REQUIRE(run_into(folder, text).ok());
  REQUIRE(run_into(folder, text).ok());
  fs::copy_file("configs/accelerators/l4.json", own, fs::copy_options::overwrite_existing);
  const auto changed = run_into(folder, text);
  REQUIRE_FALSE(changed.ok());
  CHECK(changed.error().message.find("a trace or a config has changed") != std::string::npos);
}

TEST_CASE("sweep: speedups are over the same step and engine") {
  const std::string folder = scratch_file("sweep_steps");
  const std::string text =
      R"({"schema": "foretrace.sweep/1", "trace": ")" + demo() +
      R"(", "apply": [], "step": "median", "engine": "pull", "metrics": ["speedup"],
      "axes": [{"pointer": "/step", "values": ["median", "4", "all"]},
               {"pointer": "/engine", "values": ["pull", "event"]}]})";
  const auto run = run_into(folder, text);
  REQUIRE_MESSAGE(run.ok(), (run.ok() ? "" : run.error().message));
  const Sweep sweep = sweep_of(text);
  std::size_t speedup = 0;
  while (sweep.metrics[speedup].name != "speedup") ++speedup;
  REQUIRE(sweep.metrics[speedup + 1].name == "time_ratio");
  const Rows rows = rows_of(folder);
  REQUIRE(rows.points.size() == 6);
  for (const SelectedPoint& point : rows.points) {
    CHECK(point.result.reason == "");
    REQUIRE(point.result.metrics.size() > speedup + 1);
    CHECK(point.result.metrics[speedup] == 1);
    CHECK(point.result.metrics[speedup + 1] == 1);
  }
}

TEST_CASE("sweep: a value that changes nothing is a point like the baseline") {
  const std::string folder = scratch_file("sweep_neutral");
  const std::string text = R"({"schema": "foretrace.sweep/1", "trace": ")" + demo() +
                           R"(", "apply": [null], "axes": [{"pointer": "/apply/0", "values": [null,
        "scale:select='kind=kernel',factor=1", "batch_size:factor=1", "gradient_accumulation:steps=1",
        "layer_freezing:share=0", "parallel:data=1", "accelerator_swap:to=rtx_2080_ti,host_speed=1"]}])";
  for (const char* const metrics : {"}", R"(, "metrics": ["low_ns", "high_ns"]})"}) {
    const auto run = run_into(folder + (metrics[0] == '}' ? "" : "_ranges"), text + metrics);
    REQUIRE_MESSAGE(run.ok(), (run.ok() ? "" : run.error().message));
    const Rows rows = rows_of(folder + (metrics[0] == '}' ? "" : "_ranges"));
    REQUIRE(rows.points.size() == 7);
    for (const SelectedPoint& point : rows.points) {
      CAPTURE(point.result.point);
      CHECK(point.result.reason == "");
      REQUIRE(point.result.metrics.size() >= 2);
      if (point.result.point == 6) break;  // another product
      CHECK(point.result.metrics[0] == rows.points[0].result.metrics[0]);
      CHECK(point.result.metrics[1] == 1);
    }
  }
}

TEST_CASE("sweep: a constraint that divides by zero is a reason, and no row of a changed file") {
  const std::string folder = scratch_file("sweep_undefined");
  const auto with = [](const std::string& rest) { return trace_sweep("0, 0.5, 1", rest); };
  REQUIRE(run_into(folder, with(R"(, "constraints": ["1 / factor < 3"])")).ok());
  const Rows rows = rows_of(folder);
  CHECK(rows.counts.failed == 2);
  CHECK(rows.points.at(0).result.reason ==
        "constraint '1 / factor < 3': divides by zero, or takes the logarithm of 0 or less");
  // Without the constraint these points are computed; the others are there.
  const auto run = run_into(folder, with(R"x(, "objectives": ["step_ns / (factor - 1)"])x"));
  REQUIRE(run.ok());
  CHECK(run->reused == 4);
  CHECK(run->computed == 2);
  const Rows again = rows_of(folder);
  CHECK(again.counts.failed == 0);
  CHECK(again.counts.undefined == 2);  // factor 1, with and without mixed precision
}

namespace {

/// 3 x 3 x 20 points of the demo, of which a search looks at some.
std::string searching(const std::string& method) {
  return R"({"schema": "foretrace.sweep/1", "trace": ")" + demo() +
         R"(", "apply": [null, null, {"optimization": "scale", "parameters": {"select": "kind=kernel", "factor": 1}}],
    "axes": [{"pointer": "/apply/0", "values": [null, "mixed_precision", "batch_size:factor=0.5"]},
             {"pointer": "/apply/1", "values": [null, "kernel_fusion", "whole_program_fusion"]},
             {"pointer": "/apply/2/parameters/factor", "from": 0.5, "to": 0.975, "count": 20}],
    "constraints": ["factor != 0.5 || apply_0 == none"], "objectives": ["step_ns"], )" +
         method + "}";
}

constexpr const char* genetic =
    R"("method": {"kind": "nsga2", "points": 60, "population": 10, "seed": 4})";
constexpr const char* annealed =
    R"("method": {"kind": "annealing", "points": 60, "chains": 3, "seed": 4})";

}  // namespace

TEST_CASE("sweep: a search that was cut off ends with the rows of one that was not") {
  for (const std::string method : {genetic, annealed}) {
    CAPTURE(method);
    const std::string whole = scratch_file("search_whole_" + std::to_string(method.size()));
    const std::string cut = scratch_file("search_cut_" + std::to_string(method.size()));
    const std::string text = searching(method);
    const auto run = run_into(whole, text, 3);
    REQUIRE_MESSAGE(run.ok(), (run.ok() ? "" : run.error().message));
    CHECK(run->computed <= 60);
    CHECK(run->computed > 30);
    const Rows all = rows_of(whole);
    CHECK(all.counts.failed == 0);
    for (const SelectedPoint& point : all.points) CHECK(point.is_feasible);  // others are not asked
    // What the other one had committed when it was cut off: any part of the rows.
    const Sweep sweep = sweep_of(text);
    {
      auto store = Store::open(cut);
      REQUIRE(store.ok());
      const auto facts = open_stored(whole)->store.facts();
      REQUIRE(facts.ok());
      std::vector<PointResult> some;
      for (std::size_t i = 0; i < all.points.size(); i += 3) some.push_back(all.points[i].result);
      REQUIRE(store->reset(sweep, *facts, some).ok());
    }
    const auto resumed = run_into(cut, text, 1);
    REQUIRE_MESSAGE(resumed.ok(), (resumed.ok() ? "" : resumed.error().message));
    CHECK(resumed->found + resumed->computed == run->computed);
    const Rows again = rows_of(cut);
    REQUIRE(again.points.size() == all.points.size());
    for (std::size_t i = 0; i < all.points.size(); ++i) {
      CHECK(again.points[i].result.point == all.points[i].result.point);
      CHECK(again.points[i].result.metrics == all.points[i].result.metrics);
    }
  }
}

TEST_CASE("sweep: a grid keeps what a search has computed, and a search what a grid has") {
  const std::string folder = scratch_file("search_then_grid");
  const auto first = run_into(folder, searching(genetic));
  REQUIRE(first.ok());
  const auto grid = run_into(folder, searching(R"("method": {"kind": "grid"})"));
  REQUIRE_MESSAGE(grid.ok(), (grid.ok() ? "" : grid.error().message));
  CHECK(grid->reused == first->computed);
  CHECK(grid->computed + grid->reused + grid->unwanted == 180);
  const auto back = run_into(folder, searching(annealed));
  REQUIRE(back.ok());
  CHECK(back->computed == 0);
  // The search was not far from the best of all.
  const double best = rows_of(folder, {.top = 1}).points.at(0).objectives.at(0);
  const std::string alone = scratch_file("search_alone");
  REQUIRE(run_into(alone, searching(genetic)).ok());
  CHECK(rows_of(alone, {.top = 1}).points.at(0).objectives.at(0) <= 1.05 * best);
}

TEST_CASE("sweep: mistakes in methods that search are named") {
  const auto mistake = [](const std::string& method) {
    const auto sweep = parse_sweep(searching(R"("method": )" + method), "test.json", "");
    REQUIRE_FALSE(sweep.ok());
    return sweep.error().message;
  };
  CHECK(mistake(R"({"kind": "nsga2"})").find("points") != std::string::npos);
  CHECK(mistake(R"({"kind": "nsga2", "points": 0})").find("from 1 to 1e7") != std::string::npos);
  CHECK(mistake(R"({"kind": "annealing", "points": 9, "chains": 5000})").find("from 1 to 4096") !=
        std::string::npos);
  CHECK(mistake(R"({"kind": "nsga", "points": 9})").find("nsga2") != std::string::npos);
}

TEST_CASE("sweep: results keep the scenario that they are of, whatever becomes of its file") {
  namespace fs = std::filesystem;
  const std::string folder = scratch_file("sweep_of_a_file");
  const std::string file = scratch_file("scenario.json");
  fs::copy_file("configs/scenarios/gpt3_175b_selene.json", file);
  const std::string text = R"({"schema": "foretrace.sweep/1", "scenario": ")" + file +
                           R"(", "axes": [{"pointer": "/batch/micro", "values": [1]}]})";
  REQUIRE(run_into(folder, text).ok());
  const std::vector<double> before = rows_of(folder).points.at(0).result.metrics;
  std::string scenario;
  {
    std::ifstream in(file);
    scenario.assign(std::istreambuf_iterator<char>(in), {});
  }
  const std::string was = "\"cluster\": \"selene\"";
  REQUIRE(scenario.find(was) != std::string::npos);
  scenario.replace(scenario.find(was), was.size(), "\"cluster\": \"dgx_h100\"");
  std::ofstream(file) << scenario;
  const auto changed = run_into(folder, text);
  REQUIRE_FALSE(changed.ok());
  CHECK(changed.error().message.find("of another sweep") != std::string::npos);
  fs::remove(file);
  REQUIRE(rows_of(folder).points.size() == 1);
  CHECK(rows_of(folder).points[0].result.metrics == before);
}

}  // namespace foretrace::sweeping
