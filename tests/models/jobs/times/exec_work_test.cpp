#include "models/jobs/times/exec_work.h"

#include <doctest/doctest.h>

using foretrace::live_bytes;
using foretrace::moving;
using foretrace::Operator;
using foretrace::OperatorType;
using foretrace::OperatorWork;
using foretrace::work_of;
using foretrace::WorkKind;
using foretrace::WorkPass;

namespace {

Operator product(double m, double n, double k) {
  Operator op;
  op.type = OperatorType::product;
  op.shape = {1, m, n, k};
  op.weights = n * k;
  return op;
}

}  // namespace

TEST_CASE("exec_work: the three products of training have their own shapes and operands") {
  const Operator op = product(10, 20, 30);
  const OperatorWork forward = work_of(op, WorkPass::forward, 2);
  CHECK(forward.kind == WorkKind::product);
  CHECK(forward.multiplications() == 6000);
  CHECK(forward.input_bytes == 2 * 300);
  CHECK(forward.weight_bytes == 2 * 600);
  CHECK(forward.output_bytes == 2 * 200);
  const OperatorWork input = work_of(op, WorkPass::input_gradient, 2);
  CHECK(input.n == 30);
  CHECK(input.k == 20);
  CHECK(input.weight_bytes == forward.weight_bytes);
  CHECK(input.output_bytes == forward.input_bytes);
  const OperatorWork weights = work_of(op, WorkPass::weight_gradient, 2);
  CHECK(weights.m == 30);
  CHECK(weights.k == 10);
  CHECK(weights.weight_bytes == 0);
  CHECK(weights.input_bytes == 2 * 500);
  CHECK(weights.multiplications() == forward.multiplications());
}

TEST_CASE("exec_work: a convolution has its input once, a depthwise one all of its filters") {
  Operator conv = product(100, 20, 90);
  conv.input_reuse = 9;
  CHECK(work_of(conv, WorkPass::forward, 1).input_bytes == 1000);
  CHECK(live_bytes(conv, 1) == 1000 + 2000);
  // 8 channels of 3 x 3 filters, 50 positions each.
  Operator depthwise = product(400, 1, 9);
  depthwise.weights = 72;
  CHECK(work_of(depthwise, WorkPass::forward, 1).weight_bytes == 72);
}

TEST_CASE("exec_work: a product of two activations has no weights, and two gradients") {
  Operator op = product(10, 20, 30);
  op.type = OperatorType::batch_product;
  op.weights = 0;
  op.shape.batch = 4;
  const OperatorWork forward = work_of(op, WorkPass::forward, 1);
  CHECK(forward.weight_bytes == 0);
  CHECK(forward.input_bytes == 4 * 900);
  CHECK(work_of(op, WorkPass::input_gradient, 1).multiplications() ==
        2 * forward.multiplications());
}

TEST_CASE("exec_work: attention is two products per head, of the pairs that it sees") {
  Operator op;
  op.type = OperatorType::attention;
  op.shape = {2, 0, 0, 0};
  op.attention = {
      .heads = 3, .key_heads = 1, .queries = 8, .keys = 8, .head_size = 4, .value_size = 4};
  op.attention.causal = false;
  const OperatorWork work = work_of(op, WorkPass::forward, 1);
  CHECK(work.multiplications() == 2 * 3 * 8 * 8 * (4 + 4));
  CHECK(work.output_bytes == 2 * 8 * 3 * 4);
  CHECK(work_of(op, WorkPass::input_gradient, 1).multiplications() == 2.5 * work.multiplications());
}

TEST_CASE("exec_work: what moves numbers counts them, what only sends asks for nothing") {
  Operator map;
  map.shape = {1, 10, 20, 0};
  map.forward_bytes = 4;
  map.backward_bytes = 6;
  CHECK(work_of(map, WorkPass::forward, 2).numbers == 200);
  CHECK(work_of(map, WorkPass::forward, 2).bytes() == 800);
  CHECK(work_of(map, WorkPass::input_gradient, 2).bytes() == 1200);
  CHECK(moving(1000, 3, 2).bytes() == 1000);
  CHECK(moving(1000, 3, 2).kernels == 3);
  Operator leave;
  leave.type = OperatorType::leave;
  CHECK(work_of(leave, WorkPass::forward, 2).kernels == 0);
  CHECK(live_bytes(leave, 2) == 0);
}
