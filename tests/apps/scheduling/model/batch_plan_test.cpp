#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "apps/scheduling/components.h"
#include "tests/apps/scheduling/jobs_builder.h"

namespace foretrace::scheduling::test {
namespace {

BatchPlan plan_of(std::vector<WantedBatch> wanted) {
  return {.samples_per_epoch = 1000,
          .wanted = std::move(wanted),
          .types = {{10, TypeId{0}}, {20, TypeId{1}}, {40, TypeId{2}}}};
}

TEST_CASE("batch plan: regimes change to what an epoch wants, again after a period") {
  BatchPlan plan = plan_of({{0, 10}, {3, 40}});
  plan.period = 5;
  CHECK_FALSE(plan.next(10, 200).has_value());  // 2 epochs of 100 steps
  CHECK(plan.next(10, 300) == 40);              // epoch 3
  CHECK(plan.next(40, 125) == 10);              // 5 epochs of 25 steps: epoch 0 again
}

TEST_CASE("batch plan: growth doubles as soon as more is wanted now or in the next epoch") {
  BatchPlan plan = plan_of({{0, 10}, {4, 40}});
  plan.grows = true;
  CHECK_FALSE(plan.next(10, 200).has_value());
  CHECK(plan.next(10, 300) == 20);  // epoch 3, epoch 4 wants 40: doubled once
  CHECK(plan.next(20, 150) == 40);
  CHECK_FALSE(plan.next(40, 75).has_value());
}

TEST_CASE("batch plan: a batch that nothing runs at is not changed to") {
  BatchPlan plan = plan_of({{0, 10}, {3, 80}});
  CHECK_FALSE(plan.next(10, 300).has_value());
}

TEST_CASE("batch plan: epochs are kept when the batch changes") {
  // 300 of 1000 steps at 10: 3 of 10 epochs; at 40 an epoch has 25 steps.
  const Progress scaled = rescaled(plan_of({{0, 10}}), {.total = 1000, .done = 300}, 10, 40);
  CHECK(scaled.total == 250);
  CHECK(scaled.done == 75);
}

}  // namespace
}  // namespace foretrace::scheduling::test
