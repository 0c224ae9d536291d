#include "models/editing/chains/repeats.h"

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "models/editing/kernels/kernel_editor.h"
#include "tests/models/toy_run.h"

using foretrace::editing::longest_repeats;
using Items = std::vector<std::uint64_t>;

TEST_CASE("repeats: the longest stretch of equal runs, whatever stands around it") {
  const auto found = longest_repeats(Items{9, 1, 2, 3, 1, 2, 3, 8}, 2);
  CHECK(found.begin == 1);
  CHECK(found.period == 3);
  // A cell that comes three times in each of two runs.
  const auto cells = longest_repeats(Items{5, 1, 1, 1, 5, 1, 1, 1}, 2);
  CHECK(cells.begin == 0);
  CHECK(cells.period == 4);
}

TEST_CASE("repeats: runs that are not alike to the last item are none") {
  CHECK(longest_repeats(Items{1, 2, 3, 1, 2, 4}, 3).period == 0);
  CHECK(longest_repeats(Items{1, 2, 3}, 2).period == 0);
  // Four runs are no three.
  CHECK(longest_repeats(Items{1, 2, 1, 2, 1, 2, 1, 2}, 3).period == 0);
  CHECK(longest_repeats(Items{}, 2).period == 0);
  CHECK(longest_repeats(Items{1, 1, 1}, 1).period == 0);
  CHECK(longest_repeats(Items{1, 1}, 3).period == 0);
}

TEST_CASE("repeats: kernels of one work are the same in one layer, and not in two") {
  foretrace::test::ToyRun run;
  const auto a = run.builder().add_layer("Model/0");
  const auto b = run.builder().add_layer("Model/1");
  run.kernel({.name = "gemm", .duration_ns = 10, .operator_name = "aten::mm", .layer = a});
  run.kernel({.name = "gemm", .duration_ns = 10, .operator_name = "aten::mm", .layer = a});
  run.kernel({.name = "gemm", .duration_ns = 10, .operator_name = "aten::mm", .layer = b});
  run.kernel({.name = "other", .duration_ns = 10, .operator_name = "aten::mm", .layer = b});
  const auto graph = run.build();
  const foretrace::editing::KernelEditor editor({graph, nullptr, foretrace::no_catalogue()});
  using foretrace::editing::SameBy;
  const auto works = foretrace::editing::kernel_items(editor, editor.kernels(), SameBy::work);
  REQUIRE(works.size() == 4);
  CHECK(works[0] == works[1]);
  CHECK(works[0] != works[2]);
  CHECK(works[2] != works[3]);
  const auto operators =
      foretrace::editing::kernel_items(editor, editor.kernels(), SameBy::operator_called);
  CHECK(operators[2] == operators[3]);
  CHECK(foretrace::editing::knows_layers(graph, editor.kernels()));
}
