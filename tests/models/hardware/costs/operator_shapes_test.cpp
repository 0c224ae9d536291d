#include "models/hardware/costs/operator_shapes.h"

#include <string>

#include <doctest/doctest.h>

using foretrace::amount_of;
using foretrace::KernelClass;
using foretrace::parse_inputs;

TEST_CASE("shapes: products have the FLOPs of their matrices") {
  const auto mm =
      amount_of("aten::mm", parse_inputs("[[8944, 1024], [1024, 2816]]"), KernelClass::gemm);
  REQUIRE(mm.gemm.has_value());
  CHECK(mm.flops == 2.0 * 8944 * 1024 * 2816);
  CHECK(mm.numbers == 8944.0 * 1024 + 1024.0 * 2816 + 8944.0 * 2816);
  const auto addmm = amount_of("aten::addmm", parse_inputs("[[64], [32, 16], [16, 64], [], []]"),
                               KernelClass::gemm);
  CHECK(addmm.flops == 2.0 * 32 * 16 * 64);
  const auto bmm =
      amount_of("aten::bmm", parse_inputs("[[4, 8, 16], [4, 16, 2]]"), KernelClass::gemm);
  CHECK(bmm.flops == 2.0 * 4 * 8 * 16 * 2);
  const auto linear =
      amount_of("aten::linear", parse_inputs("[[2, 5, 16], [64, 16], [64]]"), KernelClass::gemm);
  CHECK(linear.flops == 2.0 * 10 * 16 * 64);
}

TEST_CASE("shapes: a backward convolution is counted from its gradient and weight") {
  const auto amount = amount_of(
      "aten::cudnn_convolution_backward_input",
      parse_inputs("[[], [32, 2048, 7, 7], [2048, 512, 1, 1], [], [], [], [], [], [], []]"),
      KernelClass::convolution);
  CHECK(amount.flops == 2.0 * 32 * 2048 * 49 * 512);
}

TEST_CASE(
    "shapes: work of XLA's instructions has its operands, and its results where they differ") {
  const auto product =
      amount_of("dot_general", parse_inputs("[[4, 8, 16], [4, 16, 2]]"), KernelClass::gemm);
  CHECK(product.flops == 2.0 * 4 * 8 * 16 * 2);
  // Input, kernel and output: stride 2.
  const auto convolution =
      amount_of("conv_general_dilated", parse_inputs("[[2, 3, 8, 8], [5, 3, 3, 3], [2, 5, 4, 4]]"),
                KernelClass::convolution);
  CHECK(convolution.flops == 2.0 * 2 * 5 * 16 * 27);
  CHECK_FALSE(amount_of("conv_general_dilated", parse_inputs("[[2, 3, 8, 8], [5, 3, 3, 3]]"),
                        KernelClass::convolution)
                  .known());
  const auto fusion = amount_of("fusion:reduce_sum", parse_inputs("[[64, 128], [128], [64]]"),
                                KernelClass::reduction);
  CHECK(fusion.numbers == 64.0 * 128 + 128 + 64);
}

TEST_CASE("shapes: attention counts two products, backward two and a half times that") {
  const char* const q = "[[16, 559, 16, 64], [16, 559, 16, 64], [16, 559, 16, 64]]";
  const auto forward =
      amount_of("aten::_flash_attention_forward", parse_inputs(q), KernelClass::attention);
  CHECK(forward.flops == 4.0 * 16 * 16 * 559 * 559 * 64);
}

TEST_CASE("shapes: elementwise work reads its inputs and writes the largest shape") {
  const auto add =
      amount_of("aten::add", parse_inputs("[[32, 8], [8], []]"), KernelClass::elementwise);
  CHECK(add.numbers == 256 + 8 + 256);
  const auto cat =
      amount_of("aten::cat", parse_inputs("[[[16, 4], [16, 4]], []]"), KernelClass::copy);
  CHECK(cat.numbers == 64 + 64 + 64);
}

TEST_CASE("shapes: what is not known is not zero") {
  // The output size of a forward convolution needs its stride.
  CHECK_FALSE(amount_of("aten::cudnn_convolution",
                        parse_inputs("[[32, 64, 56, 56], [64, 64, 3, 3]]"),
                        KernelClass::convolution)
                  .known());
  CHECK_FALSE(amount_of("aten::mm", parse_inputs(""), KernelClass::gemm).known());
  CHECK_FALSE(amount_of("aten::mm", parse_inputs("[[3, 4], [5, 6]]"), KernelClass::gemm).known());
  CHECK_FALSE(amount_of("my::op", parse_inputs("[[3, 4]]"), KernelClass::elementwise).known());
  // A helper kernel of a product does not get the product's work.
  CHECK_FALSE(amount_of("aten::mm", parse_inputs("[[3, 4], [4, 6]]"), KernelClass::copy).known());
}

TEST_CASE("shapes: damaged texts are no shapes") {
  for (const char* text : {"[[3, 4", "{}", "[[-3, 4]]", "[[1e99, 4]]", "[[3.5]]", "null",
                           "[[[[1]]]]", "[[99999999999999999999]]"}) {
    CAPTURE(text);
    const auto inputs = parse_inputs(text);
    for (std::size_t i = 0; i < inputs.tensors.size(); ++i) CHECK(inputs.shape(i) == nullptr);
  }
  CHECK(parse_inputs(std::string(100000, '[')).tensors.empty());
}
