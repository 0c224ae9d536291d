// One change, one speedup: what `whatif` says and what a sweep says.
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "apps/report/pages/result.h"
#include "apps/report/writers.h"
#include "apps/sweep/run.h"
#include "apps/sweep/store/select.h"
#include "tests/apps/questions/answers_support.h"
#include "tests/apps/support/program.h"

namespace foretrace::test {
namespace {

/// What-ifs that change the work of a step, its time, or both, with settings that are drawn.
std::vector<std::string> drawn_stack(std::mt19937_64& random) {
  const auto below = [&random](std::uint64_t n) { return random() % n; };
  const std::vector<std::string> work = {
      fmt::format("batch_size:factor={}", 0.25 * static_cast<double>(1 + below(16))),
      fmt::format("gradient_accumulation:steps={}", 1 + below(8)),
      fmt::format("replicate:ranks={}", 2 + below(7)),
      fmt::format("parallel:data={},cluster=dgx_h100", 1U << (1 + below(3))),
      fmt::format("sequence_length:factor={}", 0.5 * static_cast<double>(1 + below(6))),
      "mu_two:models=2"};
  std::vector<std::string> stack = {work[below(work.size())]};
  if (below(2) == 0) {
    stack.push_back(
        fmt::format("scale:select='kind=kernel',factor={}", 0.5 + 0.1 * double(below(20))));
  }
  return stack;
}

/// What `whatif --json` says; null: it declines.
nlohmann::json document_of(const Loaded& run, const std::vector<std::string>& texts) {
  const auto answer = run.session.ask(stack_of(texts));
  if (!answer.ok()) return nullptr;
  return nlohmann::json::parse(
      report::json_of(report::result_page({.session = run.session, .predicted = &*answer})));
}

/// Figures of a sweep over these stacks, by name; none where a point failed.
std::vector<nlohmann::json> swept(const std::string& trace, const std::string& folder,
                                  const std::vector<std::vector<std::string>>& stacks) {
  const nlohmann::json text = {
      {"schema", "foretrace.sweep/1"},
      {"trace", trace},
      {"apply", nlohmann::json::array()},
      {"axes", {{{"name", "stack"}, {"pointer", "/apply"}, {"values", stacks}}}}};
  const auto sweep = sweeping::parse_sweep(text.dump(), "law.json", "");
  REQUIRE_MESSAGE(sweep.ok(), sweep.error().message);
  const auto done = sweeping::run_sweep(*sweep, folder, {.catalogue = shipped(), .version = "1"});
  REQUIRE_MESSAGE(done.ok(), done.error().message);
  const auto stored = sweeping::open_stored(folder);
  REQUIRE(stored.ok());
  std::vector<nlohmann::json> rows;
  const auto counts = sweeping::select_points(*stored, {}, [&](const auto& point) {
    nlohmann::json row;
    for (std::size_t i = 0; i < point.result.metrics.size(); ++i) {
      row[std::string(sweep->metrics[i].name)] = point.result.metrics[i];
    }
    rows.push_back(std::move(row));
    return ok_status();
  });
  REQUIRE(counts.ok());
  return rows;
}

TEST_CASE("law: whatif and sweep say one speedup, and speedup x time_ratio is the work of a step") {
  std::mt19937_64 random(30);
  std::size_t other_work = 0;
  for (const char* const trace : {"examples/traces/demo_generated_cnn_memory.json.gz",
                                  "examples/traces/h100/gpt2.sdpa.ftr.gz"}) {
    const std::string path = std::filesystem::absolute(trace).string();
    const Loaded run = loaded(path);
    std::vector<std::vector<std::string>> stacks(24);
    for (auto& stack : stacks) stack = drawn_stack(random);
    const auto rows = swept(path, scratch_file("speedups"), stacks);
    REQUIRE(rows.size() == stacks.size());
    for (std::size_t i = 0; i < stacks.size(); ++i) {
      CAPTURE(fmt::format("{}", fmt::join(stacks[i], " ")));
      const nlohmann::json document = document_of(run, stacks[i]);
      CHECK(document.is_null() == rows[i].is_null());
      if (document.is_null() || rows[i].is_null()) continue;
      CHECK(rows[i]["step_ns"] == document["predicted"]["step_ns"]);
      CHECK(rows[i]["speedup"] == document["speedup"]);
      CHECK(rows[i]["time_ratio"] == document["time_ratio"]);
      const nlohmann::json& predicted = document["predicted"];
      const double work =
          predicted.contains("throughput") ? predicted["throughput"]["samples"].get<double>() : 1;
      const auto speedup = document["speedup"].get<double>();
      CHECK(speedup * document["time_ratio"].get<double>() == doctest::Approx(work));
      other_work += work == 1 ? 0 : 1;
    }
    std::filesystem::remove_all(scratch_file("speedups"));
  }
  CHECK(other_work >= 20);
}

}  // namespace
}  // namespace foretrace::test
