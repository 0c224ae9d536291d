#include "apps/driver/energy.h"

#include <doctest/doctest.h>

#include "tests/configs.h"
#include "tests/models/toy_run.h"

using foretrace::driver::filled_share;
using foretrace::driver::step_energy;

namespace {

/// 3 us on all of 132 multiprocessors, 1 us on a quarter of them, on two streams.
foretrace::TaskGraph graph_of() {
  foretrace::test::ToyRun run;
  const auto large = run.kernel({.name = "large", .duration_ns = 3000});
  const auto side = run.add_stream(9);
  run.bystander(side, large, 1000);
  auto graph = run.build();
  foretrace::GraphContext context = graph.context();
  for (foretrace::Work& work : context.works) {
    const bool is_large = context.names[work.name] == "large";
    work.grid = {is_large ? 264 : 33, 1, 1};
  }
  return {std::make_shared<const foretrace::Topology>(graph.topology()),
          std::make_shared<const foretrace::TaskColumns>(graph.columns()),
          std::make_shared<const foretrace::GraphContext>(std::move(context)), graph.weights()};
}

}  // namespace

TEST_CASE("energy: kernels count as far as their blocks fill the device") {
  const auto graph = graph_of();
  CHECK(filled_share(graph, 132) == doctest::Approx(3.25 / 4));
  CHECK(filled_share(graph, 0) == doctest::Approx(1));
}

TEST_CASE("energy: a step draws what its board does, if that is known") {
  const foretrace::Catalogue& known = *foretrace::test::shipped();
  const auto graph = graph_of();
  const auto device = known.accelerator("h200_sxm");
  REQUIRE(device.ok());
  const auto energy = step_energy(known, **device, graph, 8000, 4000);
  REQUIRE(energy.has_value());
  const auto power = foretrace::board_power(known, "h200_sxm");
  // 3.25 of 8 us.
  CHECK(energy->joules == doctest::Approx((*power)->idle_w * 4.75e-6 + (*power)->busy_w * 3.25e-6));
  CHECK_FALSE(step_energy(known, **known.accelerator("tpu_v4"), graph, 8000, 4000).has_value());
}
