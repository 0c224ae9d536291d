// The pages that `report` writes, as files.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "apps/report/text.h"
#include "tests/apps/support/program.h"

namespace foretrace::test {
namespace {

std::string text_of_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What is read of HTML that this program wrote: without tags.
std::string read_of(std::string_view html) {
  std::string text;
  bool in_tag = false;
  for (const char c : html) {
    in_tag = in_tag || c == '<';
    if (!in_tag) text += c;
    in_tag = in_tag && c != '>';
  }
  return text;
}

TEST_CASE("report: one file with its policy, the answer and the ranking in plain HTML") {
  const std::string page = scratch_file("run.html");
  const Ran ran =
      run_program("report " + std::string(demo_trace) + " -o " + page + " --apply mixed_precision");
  CHECK(ran.code == 0);
  const std::string html = text_of_file(page);
  CHECK(html.find("script-src 'sha256-") != std::string::npos);
  CHECK(html.find("require-trusted-types-for 'script'") != std::string::npos);
  CHECK(allows_engine_alone(html));
  CHECK(html.find("With <em>mixed precision</em> this step would take") != std::string::npos);
  CHECK(html.find("class=\"between\"") != std::string::npos);
}

TEST_CASE("report: the same input gives the same bytes") {
  const std::string first = scratch_file("first.html");
  const std::string second = scratch_file("second.html");
  CHECK(run_program("report " + std::string(demo_trace) + " -o " + first).code == 0);
  CHECK(run_program("report " + std::string(demo_trace) + " -o " + second).code == 0);
  CHECK(text_of_file(first) == text_of_file(second));
}

TEST_CASE("report: what is too large for the page keeps its figures, and is named") {
  const std::string page = scratch_file("small.html");
  const Ran all = run_program("report " + std::string(demo_trace) + " --top 100 -o " + page);
  const Ran none = run_program("report " + std::string(demo_trace) + " --top 0 -o " + page);
  CHECK(all.code == 0);
  CHECK(none.out.find(", 0 what-ifs to try in it") != std::string::npos);
  CHECK(text_of_file(page).find("data-carried=\"no\"") != std::string::npos);
}

TEST_CASE("report: the page is none of the traces, and must be named") {
  CHECK(run_program("report " + std::string(demo_trace)).code == 2);
  const Ran over = run_program("report " + std::string(demo_trace) + " -o " + demo_trace);
  CHECK(over.code == 2);
  CHECK(over.err.find("it is an input, too") != std::string::npos);
}

TEST_CASE("report: a step of other samples says so, and gains by the time of one") {
  const std::string page = scratch_file("batch.html");
  const std::string demo(demo_trace);
  const Ran ran = run_program("report " + demo + " --top 0 -o " + page +
                              " --apply batch_size:factor=2 --apply mixed_precision");
  CHECK(ran.code == 0);
  const std::string html = text_of_file(page);
  CHECK(read_of(html).find(", for 2.00x the samples.") != std::string::npos);
  // `whatif` says of the same two: 50.93 ms -> 39.24 ms for twice the samples.
  const Ran asked =
      run_program("whatif " + demo + " --json --apply batch_size:factor=2 --apply mixed_precision");
  const auto document = nlohmann::json::parse(asked.out);
  const double before = document["baseline"]["step_ns"];
  const double after = document["predicted"]["step_ns"];
  // As every figure of a page it has the sign for less, not a hyphen.
  const std::string change = report::signed_percent_text(after / 2 / before - 1);
  REQUIRE(change.starts_with('-'));
  CHECK(html.find("\u2212" + change.substr(1) + "</b> per sample") != std::string::npos);
}

TEST_CASE("compare: two traces, or the ranks of two jobs behind --with") {
  const std::string demo(demo_trace);
  CHECK(run_program("compare " + demo).code == 2);
  CHECK(run_program("compare " + demo + " " + demo + " " + demo).code == 2);
  const Ran same = run_program("compare " + demo + " --with " + demo + " --quiet");
  CHECK(same.code == 0);
  CHECK(same.out.find("step 5") == 0);
  CHECK(first_bad_line(run_program("compare " + demo + " " + demo + " --details").out).empty());
}

TEST_CASE("compare: both runs on one page, with reasons that add up, whatever their names") {
  const std::string page = scratch_file("difference.html");
  const Ran ran = run_program(
      "compare examples/traces/demo_generated_cnn.json.gz "
      "examples/traces/demo_generated_cnn_memory.json.gz -o " +
      page);
  CHECK(ran.code == 0);
  const std::string html = text_of_file(page);
  CHECK(html.find("data-kind=\"compare\"") != std::string::npos);
  CHECK(html.find("id=\"block-after\"") != std::string::npos);
  CHECK(html.find("instead of") != std::string::npos);
  CHECK(allows_engine_alone(html));
  const Ran over =
      run_program(std::string("compare ") + demo_trace + " " + demo_trace + " -o " + demo_trace);
  CHECK(over.code == 2);
}

TEST_CASE("report: a scenario has its stages and its sentence; with what-ifs it is a run") {
  const std::string page = scratch_file("plan.html");
  const std::string scenario = "examples/recipes/report/pipeline.json";
  CHECK(run_program("report --scenario " + scenario + " -o " + page).code == 0);
  const std::string html = text_of_file(page);
  CHECK(read_of(html).find("A step of GPT-3 175B takes") != std::string::npos);
  CHECK(html.find("tokens/s") != std::string::npos);
  CHECK(html.find("stage 7") != std::string::npos);
  const Ran both = run_program("report --scenario " + scenario + " " + demo_trace + " -o " + page);
  CHECK(both.code == 2);
  CHECK(both.err.find("expected one of a trace, --scenario and --sweep") != std::string::npos);
  const std::string run = "examples/recipes/scenarios/bert_mlperf.json --apply flash_attention -o ";
  for (const std::string& command : {"report --scenario " + run, "report " + run}) {
    std::filesystem::remove(page);
    CHECK(run_program(command + page).code == 0);
    CHECK(text_of_file(page).find("flash_attention") != std::string::npos);
  }
  CHECK(run_program("report --scenario " + std::string(demo_trace) + " -o " + page).code == 2);
}

TEST_CASE("report: a sweep has every feasible point, and a folder without one is named") {
  const std::string folder = scratch_file("results");
  const std::string page = scratch_file("sweep.html");
  REQUIRE(run_program("sweep examples/recipes/sweeps/gpt3_512.json --quiet -o " + folder).code ==
          0);
  CHECK(run_program("report --sweep " + folder + " -o " + page).code == 0);
  const std::string html = text_of_file(page);
  CHECK(read_of(html).find("The lowest step time is 36.74 s, with tensor\u00a04") !=
        std::string::npos);
  CHECK(html.find("4,077 feasible") != std::string::npos);
  CHECK(run_program("report --sweep " + scratch_file("nothing") + " -o " + page).code == 2);
}

}  // namespace
}  // namespace foretrace::test
