#include "models/hardware/costs/work_formulas.h"

#include <doctest/doctest.h>

using namespace foretrace;

TEST_CASE("work formulas: a product multiplies and adds once per m, n and k") {
  // 3 products of 4 x 6 by 6 x 5: 2 * 3 * 4 * 5 * 6 = 720; numbers 3 * (24 + 30 + 20) = 222.
  const WorkAmount work = gemm_work({3, 4, 5, 6});
  CHECK(work.flops == 720);
  CHECK(work.numbers == 222);
  CHECK(work.output == 60);
  REQUIRE(work.gemm.has_value());
}

TEST_CASE("work formulas: a convolution sums over its window and the channels of its group") {
  // Batch 2, 8 -> 16 channels in 4 groups, 10 x 10 -> 5 x 5, 3 x 3 windows: outputs 2 * 16 * 25 =
  // 800, each of 2 channels x 9: 2 * 800 * 18 = 28,800. Numbers 2*8*100 + 16*18 + 800 = 2,688.
  const WorkAmount work = convolution_work({.batch = 2,
                                            .input_channels = 8,
                                            .output_channels = 16,
                                            .groups = 4,
                                            .input_pixels = 100,
                                            .output_pixels = 25,
                                            .kernel_pixels = 9});
  CHECK(work.flops == 28800);
  CHECK(work.numbers == 2688);
}

TEST_CASE("work formulas: attention has two products forward and five backward") {
  // 2 sequences, 3 heads, 4 queries, 6 keys, head size 8: 144 pairs, 4 * 144 * 8 = 4,608.
  AttentionShape shape{
      .batch = 2, .heads = 3, .key_heads = 3, .queries = 4, .keys = 6, .head_dim = 8};
  CHECK(attention_work(shape, Direction::forward).flops == 4608);
  CHECK(attention_work(shape, Direction::backward).flops == 2.5 * 4608);
  // Q and O 2*3*4*8 = 192 each, K and V 2*3*6*8 = 288 each.
  CHECK(attention_work(shape, Direction::forward).numbers == 960);
  // Eager code writes and reads scores and weights: 4 passes over 144 pairs.
  shape.fused = false;
  CHECK(attention_work(shape, Direction::forward).numbers == 960 + 4 * 144);
  shape.fused = true;
  shape.causal = true;
  CHECK(attention_work(shape, Direction::forward).flops == 2304);
  // One head of keys for three of queries.
  shape.key_heads = 1;
  CHECK(attention_work(shape, Direction::forward).numbers == 2 * 192 + 2 * 96);
}

TEST_CASE("work formulas: row operators read and write each number once, backward reads two") {
  const WorkAmount forward = row_work(OperatorKind::softmax, 10, 100, Direction::forward);
  CHECK(forward.numbers == 2000);
  REQUIRE(forward.rows.has_value());
  CHECK(forward.rows->rows == 10);
  CHECK(forward.rows->columns == 100);
  const WorkAmount backward = row_work(OperatorKind::layer_norm, 10, 100, Direction::backward);
  CHECK(backward.numbers == 3000);
  CHECK_FALSE(backward.rows.has_value());
}

TEST_CASE("work formulas: elementwise operators and gathers count what they touch") {
  CHECK(elementwise_work(100, 2, 1).numbers == 300);
  CHECK(embedding_work(7, 64).numbers == 2 * 7 * 64);
}

TEST_CASE("work formulas: an update reads and writes parameter and state and reads the gradient") {
  CHECK(update_work(UpdateRule::sgd, 10).numbers == 30);
  CHECK(update_work(UpdateRule::sgd_momentum, 10).numbers == 50);
  CHECK(update_work(UpdateRule::adam, 10).numbers == 70);  // p, g, m, v in; p, m, v out
}
