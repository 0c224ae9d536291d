#include "models/jobs/recordings/pass_job.h"

#include <string>

#include <doctest/doctest.h>

#include "models/jobs/program/rank_program.h"
#include "models/jobs/recordings/recorded_passes.h"
#include "tests/configs.h"
#include "tests/models/toy_transformer.h"

using namespace foretrace;
using editing::KernelEditor;
using foretrace::test::toy_accelerator;
using foretrace::test::toy_transformer;

namespace {

struct Shares {
  double dense = 0;
  double frozen = 0;
  double ready = 0;
  std::size_t gradients = 0;
};

Shares shares_of(const SpreadOptions& options, double frozen = 0) {
  const Accelerator a100 = toy_accelerator();
  const TaskGraph graph = toy_transformer({.layers = 4});
  const KernelEditor editor({graph, &a100, *foretrace::test::shipped()});
  const auto passes = recorded_passes(editor);
  REQUIRE(passes.size() == 1);
  REQUIRE(passes[0].layers.ok());
  PassParameters parameters = PassCounter(editor).of(passes[0].kernels, options.parameters);
  parameters.all += frozen;
  auto of = job_of_pass(editor, options, *passes[0].layers, parameters);
  REQUIRE_MESSAGE(of.ok(), of.error().message);
  const auto program = build_program(of->bound());
  REQUIRE(program.ok());
  Shares sum;
  for (const RankProgram::Block& block : *program->blocks) {
    sum.dense += block.dense_weights;
    sum.frozen += block.frozen_weights;
    for (const double one : block.ready) sum.ready += one;
    sum.gradients += block.ready.size();
  }
  return sum;
}

}  // namespace

TEST_CASE("pass job: layers have the parameters of the pass, and the gradients that it makes") {
  auto cluster = find_cluster(*foretrace::test::shipped(), "dgx_a100");
  REQUIRE(cluster.ok());
  SpreadOptions options;
  options.cluster = &*cluster;
  options.schedule = *find_schedule("1f1b");
  options.plan.data = 8;
  const double numbers = 4.0 * 12 * 1024 * 1024 + 2.0 * 32000 * 1024;
  const Shares buckets = shares_of(options);
  CHECK(buckets.dense == doctest::Approx(numbers).epsilon(1e-9));
  CHECK(buckets.ready == doctest::Approx(numbers).epsilon(1e-9));
  CHECK(buckets.gradients >= 4 * 4 + 2);
  CHECK(buckets.frozen == doctest::Approx(0).scale(numbers));
  options.plan.sharding = Sharding::parameters;
  options.own_parameters = 0.5;
  const Shares shared = shares_of(options, numbers);
  CHECK(shared.dense == doctest::Approx(numbers / 2).epsilon(1e-9));
  CHECK(shared.frozen == doctest::Approx(numbers / 2).epsilon(1e-9));
  CHECK(shared.gradients == 0);  // they go with their layers
  options.parameters = 1e6;
  CHECK(shares_of(options).dense == doctest::Approx(1e6 / 2).epsilon(1e-9));
}
