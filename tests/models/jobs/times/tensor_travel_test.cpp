#include "models/jobs/times/tensor_travel.h"

#include <vector>

#include <doctest/doctest.h>

using foretrace::Operator;
using foretrace::OperatorType;
using foretrace::run_tensors;
using foretrace::ShardTravel;
using foretrace::stay_for_backward;
using foretrace::tensors_of;
using foretrace::TensorUse;
using foretrace::TwoLanes;

namespace {

double end_of(std::vector<TensorUse> uses, const ShardTravel& travel, double host_ns,
              double views_ns = 0) {
  TwoLanes lanes;
  std::size_t collectives = 0;
  for (TensorUse& use : uses) {
    use.copies = host_ns;
    use.views = views_ns;
    collectives += (use.gather > 0 ? 1 : 0) + (use.scatter > 0 ? 1 : 0);
  }
  const double host = run_tensors(uses, travel, 1, lanes);
  CHECK(host == doctest::Approx(static_cast<double>(collectives) * (host_ns + views_ns)));
  static_cast<void>(lanes.wait_all());
  return lanes.now();
}

ShardTravel ahead(double elements) {
  ShardTravel travel;
  travel.by_tensor = true;
  travel.prefetch_elements = elements;
  return travel;
}

}  // namespace

TEST_CASE("tensor travel: the next tensor comes while one is used, and the host comes before") {
  const std::vector<TensorUse> uses(3, {100, 20, 10, 0});
  // Nothing ahead: three times 10, then 20.
  CHECK(end_of(uses, ahead(0), 0) == doctest::Approx(90));
  // One ahead: the first 10 alone is seen.
  CHECK(end_of(uses, ahead(50), 0) == doctest::Approx(70));
  // The host's 5 of the first go beside its 10; those of the other two come before kernels.
  CHECK(end_of(uses, ahead(50), 5) == doctest::Approx(80));
}

TEST_CASE("tensor travel: views come before a collective, copies beside one that gathers") {
  const std::vector<TensorUse> uses = {{100, 20, 10, 0}};
  CHECK(end_of(uses, ahead(0), 4) == doctest::Approx(10 + 20));
  CHECK(end_of(uses, ahead(0), 14) == doctest::Approx(14 + 20));
  CHECK(end_of(uses, ahead(0), 14, 3) == doctest::Approx(3 + 14 + 20));
  // Both before one that scatters.
  const std::vector<TensorUse> gradients = {{100, 20, 0, 10}};
  CHECK(end_of(gradients, ahead(0), 14, 3) == doctest::Approx(20 + 3 + 14 + 10));
}

TEST_CASE("tensor travel: who waits for the device asks for nothing before it is done") {
  // The gradient of 50 leaves; the views for the next tensor come behind it.
  const std::vector<TensorUse> uses = {{100, 20, 0, 50}, {100, 20, 10, 0}};
  ShardTravel travel = ahead(0);
  CHECK(end_of(uses, travel, 0, 3) == doctest::Approx(20 + 3 + 50 + 10 + 20));
  travel.waits_for_all = true;
  CHECK(end_of(uses, travel, 0, 3) == doctest::Approx(20 + 3 + 50 + 3 + 10 + 20));
}

TEST_CASE("tensor travel: small tensors are asked for and waited for together") {
  const std::vector<TensorUse> uses(3, {30, 20, 15, 0});
  // 15; the other two take 30 from there, of which 20 beside the first use; 20 and 20.
  CHECK(end_of(uses, ahead(50), 0) == doctest::Approx(85));
  // One at a time: 15, then all beside a use.
  CHECK(end_of(uses, ahead(20), 0) == doctest::Approx(75));
}

TEST_CASE("tensor travel: who waits for the device waits for gradients, too") {
  const std::vector<TensorUse> uses = {{100, 20, 10, 50}, {100, 20, 10, 0}};
  ShardTravel travel = ahead(50);
  // 10, 20 beside the second tensor, 20 beside the gradient, of which 30 are left.
  CHECK(end_of(uses, travel, 0) == doctest::Approx(80));
  travel.waits_for_all = true;
  CHECK(end_of(uses, travel, 0) == doctest::Approx(100));
}

TEST_CASE("tensor travel: what is there is used at once, and what follows is asked for") {
  const std::vector<TensorUse> uses = {{5, 7, 0, 0}, {100, 20, 10, 0}};
  CHECK(end_of(uses, ahead(50), 0) == doctest::Approx(7 + 3 + 20));
  CHECK(end_of(uses, ahead(0), 0) == doctest::Approx(7 + 10 + 20));
}

TEST_CASE("tensor travel: a product has a matrix and a bias, a norm a scale and a bias") {
  Operator op;
  op.type = OperatorType::product;
  op.shape = {1, 8, 4, 3};
  op.weights = 12;
  CHECK(tensors_of(op) == std::vector<double>{12});
  op.weights = 16;
  CHECK(tensors_of(op) == std::vector<double>{12, 4});
  op.type = OperatorType::rows;
  op.shape = {1, 8, 5, 0};
  op.weights = 10;
  CHECK(tensors_of(op) == std::vector<double>{5, 5});
  op.weights = 5;
  CHECK(tensors_of(op) == std::vector<double>{5});
  op.weights = 0;
  CHECK(tensors_of(op).empty());
}

TEST_CASE("tensor travel: recomputed tensors stay where little is used before their backward") {
  // Behind the last nothing, behind the one before 2 x 4, then 2 x 8.
  const std::vector<double> tensors = {3, 1, 4, 4};
  CHECK(stay_for_backward(tensors, 9) == std::vector<bool>{false, false, true, true});
  CHECK(stay_for_backward(tensors, 0) == std::vector<bool>(4, false));
}
