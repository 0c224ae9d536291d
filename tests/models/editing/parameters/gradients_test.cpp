#include "models/editing/parameters/gradients.h"

#include <string>

#include <doctest/doctest.h>

#include "tests/models/toy_run.h"

using foretrace::Phase;
using foretrace::TaskGraph;
using foretrace::editing::find_passes;
using foretrace::editing::GradientFinder;
using foretrace::editing::KernelEditor;
using foretrace::test::shipped;
using foretrace::test::ToyRun;

namespace {

constexpr double table = 5000 * 512;
constexpr double product = 512 * 512;

// Rows of a table are looked up twice, then a product, with activations picked between them on
// another stream; the update goes over the tensors of these shapes.
TaskGraph lookup(const std::vector<const char*>& updated, const char* last_table = nullptr) {
  ToyRun run;
  const auto own = run.stream();
  const auto side = run.add_stream(9);
  run.kernel({.name = "indexSelectLargeIndex",
              .duration_ns = 1'000,
              .operator_name = "aten::index_select",
              .shapes = "[[5000, 512], [], [64]]"});
  run.kernel({.name = "vectorized_gather_kernel<16, long>",
              .duration_ns = 1'000,
              .operator_name = "aten::gather",
              .shapes = "[[5000, 512], [], [64, 512], []]"});
  run.use_stream(side);
  run.kernel({.name = "indexSelectLargeIndex",
              .duration_ns = 1'000,
              .operator_name = "aten::index_select",
              .shapes = "[[4096, 512], [], [64]]"});
  run.use_stream(own);
  if (last_table != nullptr) {
    run.kernel({.name = "indexSelectLargeIndex",
                .duration_ns = 1'000,
                .operator_name = "aten::index_select",
                .shapes = last_table});
  }
  run.kernel(
      {"ampere_sgemm_128x64_tn", 97'000, "aten::mm", "[[64, 512], [512, 512]]", Phase::forward});
  for (int i = 0; i < 4; ++i) {
    run.kernel({.name = "bwd", .duration_ns = 50'000, .phase = Phase::backward});
  }
  for (const char* shapes : updated) {
    for (const char* op : {"aten::mul_", "aten::addcdiv_"}) {
      run.kernel(
          {.duration_ns = 2'000, .operator_name = op, .shapes = shapes, .phase = Phase::update});
    }
  }
  return run.build();
}

}  // namespace

TEST_CASE("gradients: a table that rows are picked from is ready last, where the model has it") {
  const TaskGraph graph = lookup({"[[5000, 512], []]", "[[512, 512], []]"});
  const KernelEditor editor({graph, nullptr, *shipped()});
  const auto passes = find_passes(editor);
  REQUIRE(passes.size() == 1);
  const auto found = GradientFinder(editor).of(passes[0]);
  CHECK(found.places == foretrace::editing::GradientPlaces::weights);
  REQUIRE(found.list.size() == 2);
  CHECK(found.list[0].numbers == product);
  CHECK(found.list[1].numbers == table);
  CHECK(found.list[1].ready == passes[0].backward.back());
}

TEST_CASE("gradients: rows picked from what the model has no room for are activations") {
  const TaskGraph graph = lookup({"[[256, 512], []]", "[[256, 512], []]"});
  const KernelEditor editor({graph, nullptr, *shipped()});
  const auto found = GradientFinder(editor).of(find_passes(editor)[0]);
  REQUIRE(found.list.size() == 1);
  CHECK(found.list[0].numbers == product);
}

TEST_CASE("gradients: tables of one size are as many as the model has room for") {
  // Of source and target words, each looked up once; activations are picked on another stream.
  const TaskGraph two = lookup({"[[5000, 512], []]", "[[5000, 512], []]", "[[512, 512], []]"});
  const KernelEditor editor({two, nullptr, *shipped()});
  const auto passes = find_passes(editor);
  const auto found = GradientFinder(editor).of(passes[0]);
  CHECK(found.places == foretrace::editing::GradientPlaces::weights);
  REQUIRE(found.list.size() == 3);
  CHECK(found.list[0].numbers == product);
  CHECK(found.list[1].numbers == table);
  CHECK(found.list[2].numbers == table);
}

TEST_CASE("gradients: a table that is looked up twice leaves room for one of another size") {
  for (const double rows : {3000, 6000}) {
    CAPTURE(rows);
    const std::string shape = rows == 3000 ? "[[3000, 512], []" : "[[6000, 512], []";
    const std::string updated = shape + "]";
    const std::string picked = shape + ", [64]]";
    const TaskGraph graph =
        lookup({"[[5000, 512], []]", updated.c_str(), "[[512, 512], []]"}, picked.c_str());
    const KernelEditor editor({graph, nullptr, *shipped()});
    const auto found = GradientFinder(editor).of(find_passes(editor)[0]);
    CHECK(found.places == foretrace::editing::GradientPlaces::weights);
    REQUIRE(found.list.size() == 3);
    CHECK(found.list[0].numbers == product);
    CHECK(found.list[1].numbers == rows * 512);
    CHECK(found.list[2].numbers == table);
  }
}
