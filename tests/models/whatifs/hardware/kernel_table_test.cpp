#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& kernel_table;
}

using foretrace::ErrorCode;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::duration_of;
using foretrace::test::ToyRun;
using foretrace::what_ifs::kernel_table;

namespace {

foretrace::TaskGraph run_of(std::string_view op, std::string_view shapes) {
  ToyRun run;
  run.kernel({.name = op == "aten::mm" ? "ampere_sgemm_128x64_tn" : "elementwise_kernel",
              .duration_ns = 1000000,
              .operator_name = op,
              .shapes = shapes});
  return run.build();
}

const foretrace::test::Given example = {{"table", "example"}};

}  // namespace

TEST_CASE("kernel_table: a row of the same size gives its time, and the graph says so") {
  const auto timed =
      after(run_of("aten::mm", "[[1024, 1024], [1024, 1024]]"), kernel_table, example);
  CHECK(duration_of(timed, "ampere_sgemm_128x64_tn") == 138000);
  CHECK(timed.provenance(foretrace::make_id<foretrace::TaskId>(1)) == foretrace::Provenance::table);
  // 1 million read and 1 million written.
  CHECK(duration_of(after(run_of("aten::gelu", "[[1000000]]"), kernel_table, example),
                    "elementwise_kernel") == 8200);
}

TEST_CASE("kernel_table: between rows the time per unit of work is interpolated") {
  const auto timed =
      after(run_of("aten::mm", "[[1024, 1024], [1024, 1536]]"), kernel_table, example);
  // 1.5 times the work of the only row within a factor of 2.
  CHECK(duration_of(timed, "ampere_sgemm_128x64_tn") == 138000 * 3 / 2);
}

TEST_CASE("kernel_table: sizes out of reach and operators without rows stay") {
  for (const auto& [op, shapes] : {std::pair{"aten::mm", "[[1024, 1024], [1024, 65536]]"},
                                   std::pair{"aten::relu", "[[1000000]]"}}) {
    const auto declined = apply_to(run_of(op, shapes), kernel_table, example);
    REQUIRE_FALSE(declined.ok());
    CHECK(declined.error().code == ErrorCode::no_match);
  }
}

TEST_CASE(
    "kernel_table: a document may stand in the parameter, and names kernels that no operator "
    "tells") {
  ToyRun run;
  run.kernel({.name = "first", .duration_ns = 1000});
  run.kernel({.name = "second", .duration_ns = 1000, .phase = foretrace::Phase::backward});
  run.kernel({.name = "second", .duration_ns = 1000});
  const auto graph = run.build();
  const std::string table =
      R"({"schema": "foretrace.kernel_table/1", "error": 0.25,
          "rows": [{"kernel": "second", "time": "600 ns"}]})";
  const auto priced =
      apply_to(graph, kernel_table, {{"table", table}, {"select", "phase=backward"}});
  REQUIRE_MESSAGE(priced.ok(), priced.error().message);
  REQUIRE(priced->durations.size() == 1);
  CHECK(priced->durations[0].duration_ns == 600);
  CHECK(priced->durations[0].low == doctest::Approx(0.8));
  CHECK(priced->durations[0].high == doctest::Approx(1.25));
}

TEST_CASE("kernel_table: a document that is wrong, and a selection of nothing, are named") {
  const auto graph = run_of("aten::mm", "[[64, 64], [64, 64]]");
  const auto wrong = apply_to(graph, kernel_table, {{"table", R"({"schema": "other/1"})"}});
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.error().message.find("parameter 'table': the document: ") != std::string::npos);
  const auto nothing =
      apply_to(graph, kernel_table, {{"table", "example"}, {"select", "name=gone"}});
  REQUIRE_FALSE(nothing.ok());
  CHECK(nothing.error().code == ErrorCode::no_match);
  CHECK(nothing.error().message.find("no kernel matches 'name=gone'") != std::string::npos);
}

TEST_CASE("kernel_table: a table that is not there is named") {
  const auto graph = run_of("aten::mm", "[[64, 64], [64, 64]]");
  const auto absent = apply_to(graph, kernel_table, {{"table", "absent"}});
  REQUIRE_FALSE(absent.ok());
  CHECK(absent.error().message.find("kernel table 'absent': not found") != std::string::npos);
}
