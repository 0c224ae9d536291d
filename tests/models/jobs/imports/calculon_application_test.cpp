#include <string>

#include <doctest/doctest.h>

#include "models/jobs/workloads/transformer.h"

using foretrace::BatchShape;
using foretrace::build_transformer;
using foretrace::KernelSet;
using foretrace::parse_model;

namespace {

const std::string small =
    R"({"name": "made up", "hidden": 4096, "feedforward": 16384, "seq_size": 2048,
        "attn_heads": 32, "attn_size": 128, "num_blocks": 24})";

}  // namespace

TEST_CASE("calculon: an application is a GPT with as many parameters as Calculon counts") {
  const auto model = parse_model(small, "small.json");
  REQUIRE_MESSAGE(model.ok(), (model.ok() ? "" : model.error().message));
  CHECK(model->transformer.layers == 24);
  CHECK(model->transformer.head_size == 128);
  // num_parameters(): per block 2 h f + 4 h a s, biases f + h + 3 a s + h, norms 4 h; embeddings
  // (51200 + 2048) h. Ours has the norm after the last block, too: 2 h.
  const double h = 4096;
  const double block = 2 * h * 16384 + 4 * h * h + (h + 16384) + (3 * h + h) + 4 * h;
  CHECK(weights_of(build_transformer(model->transformer, BatchShape{}, KernelSet{})) ==
        doctest::Approx(24 * block + (51200 + 2048) * h + 2 * h).epsilon(1e-9));
}

TEST_CASE("calculon: wrong applications are one line with the place") {
  std::string text = small;
  text.replace(text.find("24"), 2, "0");
  const auto none = parse_model(text, "small.json");
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().message.find("small.json: /num_blocks: got the number 0, expected a whole "
                                  "number from 1") == 0);
  text = small;
  text.replace(text.find("\"hidden\": 4096, "), 16, "");
  const auto missing = parse_model(text, "small.json");
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().message.find("small.json: /hidden: missing key") == 0);
}
