// The types of a transformer's tensors under autocast, forward and backward, as PyTorch casts them.
#include "models/whatifs/precision/autocast_types.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace foretrace::editing {
namespace {

constexpr const char* rows = "[[8192, 768]]";

/// Operators one behind the other; what is cast where, as text.
class Run {
 public:
  explicit Run(std::int32_t rank = 0) : rank_(rank) {}

  std::string step(AutocastTypes& types, std::string_view name, std::string_view dims,
                   Phase phase = Phase::forward, double result = 0, double weight = 0) {
    const OperatorInputs inputs = parse_inputs(dims);
    AutocastKernel kernel;
    kernel.task = make_id<TaskId>(next_++);
    kernel.rank = rank_;
    kernel.operator_name = name;
    kernel.inputs = &inputs;
    kernel.phase = phase;
    kernel.is_product = name.find("mm") != std::string_view::npos;
    kernel.keeps_fp32 = name.find("softmax") != std::string_view::npos ||
                        name.find("layer_norm") != std::string_view::npos;
    kernel.is_lookup = name == "aten::embedding";
    kernel.result_numbers = result;
    kernel.weight_numbers = weight;
    const AutocastStep found = types.next(kernel);
    std::string text = !found.half ? "unknown" : *found.half ? "half" : "fp32";
    for (const AutocastCast& cast : found.casts) {
      text += std::string(cast.after ? ", then " : ", first ") + (cast.to_half ? "down " : "up ") +
              std::to_string(std::int64_t(cast.numbers));
    }
    for (const TaskId writer : found.replaced) {
      text += ", for " + std::to_string(index(writer));
    }
    return text;
  }

 private:
  std::int32_t rank_;
  std::size_t next_ = 0;
};

TEST_CASE(
    "autocast types: a residual block stays fp32 outside and is 16 bit between its products") {
  AutocastTypes types;
  Run run;
  constexpr double wide = 8192.0 * 3072;
  constexpr double narrow = 8192.0 * 768;
  constexpr double weight = 768.0 * 3072;
  CHECK(run.step(types, "aten::embedding", "[[50304, 768], [8, 1024], []]") == "fp32");
  CHECK(run.step(types, "aten::native_layer_norm", "[[8192, 768], [], [768], [768], []]") ==
        "fp32");
  CHECK(run.step(types, "aten::addmm", "[[3072], [8192, 768], [768, 3072], [], []]", Phase::forward,
                 wide, weight) == "half, first down 6291456, for 1");
  CHECK(run.step(types, "aten::gelu", "[[8192, 3072], []]") == "half");
  CHECK(run.step(types, "aten::addmm", "[[768], [8192, 3072], [3072, 768], [], []]", Phase::forward,
                 narrow, weight) == "half");
  CHECK(run.step(types, "aten::native_dropout", rows) == "half");
  // The embedding was not a sum, so nothing is known of what is added: the other input decides.
  CHECK(run.step(types, "aten::add", "[[8192, 768], [8192, 768], []]") == "half");

  SUBCASE("backward: gradients have the types of their tensors, those of weights are cast up") {
    CHECK(run.step(types, "aten::native_dropout_backward", rows, Phase::backward) == "half");
    CHECK(run.step(types, "aten::mm", "[[8192, 768], [768, 3072]]", Phase::backward, wide) ==
          "half");
    CHECK(run.step(types, "aten::mm", "[[3072, 8192], [8192, 768]]", Phase::backward, weight) ==
          "half, then up 2359296");
    CHECK(run.step(types, "aten::gelu_backward", "[[8192, 3072], [8192, 3072], []]",
                   Phase::backward) == "half");
    CHECK(run.step(types, "aten::mm", "[[8192, 3072], [3072, 768]]", Phase::backward, narrow) ==
          "half");
    CHECK(run.step(types, "aten::native_layer_norm_backward", "[[8192, 768], [8192, 768], []]",
                   Phase::backward) == "fp32, first up 6291456");
    CHECK(run.step(types, "aten::mm", "[[8192, 768], [768, 768]]", Phase::backward, narrow) ==
          "half, first down 6291456");
  }
}

TEST_CASE("autocast types: sums of fp32 stay fp32 from block to block") {
  AutocastTypes types;
  Run run;
  CHECK(run.step(types, "aten::embedding", "[[50304, 768], [8, 1024], []]") == "fp32");
  CHECK(run.step(types, "aten::add", "[[8, 1024, 768], [1024, 768], []]") == "fp32");
  for (int block = 0; block < 3; ++block) {
    CHECK(run.step(types, "aten::addmm", "[[768], [8192, 768], [768, 768]]", Phase::forward,
                   8192.0 * 768, 768.0 * 768) == "half, first down 6291456");
    CHECK(run.step(types, "aten::native_dropout", rows) == "half");
    CHECK(run.step(types, "aten::add", "[[8192, 768], [8192, 768], []]") == "fp32");
  }
}

TEST_CASE(
    "autocast types: softmax between batched products is cast up and down, its backward too") {
  AutocastTypes types;
  Run run;
  constexpr double scores = 96.0 * 1024 * 1024;
  const char* const square = "[[8, 12, 1024, 1024], []]";
  CHECK(run.step(types, "aten::bmm", "[[96, 1024, 64], [96, 64, 1024]]", Phase::forward, scores) ==
        "half");
  CHECK(run.step(types, "aten::div", square) == "half");
  CHECK(run.step(types, "aten::_softmax", square) == "fp32, first up 100663296");
  CHECK(run.step(types, "aten::native_dropout", square) == "fp32");
  CHECK(run.step(types, "aten::bmm", "[[96, 1024, 1024], [96, 1024, 64]]", Phase::forward,
                 96.0 * 1024 * 64) == "half, first down 100663296, for 3");
  CHECK(run.step(types, "aten::bmm", "[[96, 1024, 64], [96, 64, 1024]]", Phase::backward, scores) ==
        "half");
  CHECK(run.step(types, "aten::native_dropout_backward", square, Phase::backward) ==
        "fp32, first up 100663296");
  CHECK(run.step(types, "aten::_softmax_backward_data", square, Phase::backward) == "fp32");
  CHECK(run.step(types, "aten::div", square, Phase::backward) == "half, first down 100663296");
}

TEST_CASE(
    "autocast types: ranks do not mix, unknown shapes say nothing, small tensors cost nothing") {
  AutocastTypes types;
  Run one(0);
  Run other(1);
  CHECK(one.step(types, "aten::native_layer_norm", rows) == "fp32");
  CHECK(other.step(types, "aten::mm", "[[8192, 768], [768, 768]]", Phase::forward, 0) == "half");
  CHECK(one.step(types, "aten::mm", "[[8192, 768], [768, 768]]", Phase::forward, 0) ==
        "half, first down 6291456, for 0");
  CHECK(one.step(types, "aten::gelu", "") == "unknown");
  CHECK(one.step(types, "aten::_softmax", "[[4, 8]]") == "unknown");
}

}  // namespace
}  // namespace foretrace::editing
