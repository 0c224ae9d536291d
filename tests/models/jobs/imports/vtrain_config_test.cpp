#include <string>

#include <doctest/doctest.h>

#include "models/jobs/workloads/model_import.h"

using foretrace::parse_model;

namespace {

const std::string small = R"({"num_gpus": 64, "gpu_name": "A100", "tensor_parallel_size": 8,
  "data_parallel_size": 2, "pipeline_parallel_size": 4, "global_batch_size": 64,
  "micro_batch_size": 1, "num_layers": 24, "hidden_size": 4096, "num_attention_heads": 32,
  "max_length": 1024})";

}  // namespace

TEST_CASE("vtrain: a configuration is a GPT with four times the width inside") {
  const auto model = parse_model(small, "small.json");
  REQUIRE_MESSAGE(model.ok(), (model.ok() ? "" : model.error().message));
  CHECK(model->transformer.layers == 24);
  CHECK(model->transformer.head_size == 128);
  CHECK(model->transformer.ffn == 16384);
  CHECK(model->transformer.positions == 1024);
  CHECK(model->transformer.vocabulary == 50257);
}

TEST_CASE("vtrain: a wrong member is one line with its place") {
  std::string text = small;
  text.replace(text.find("\"num_attention_heads\": 32"), 25, "\"num_attention_heads\": 33");
  const auto heads = parse_model(text, "small.json");
  REQUIRE_FALSE(heads.ok());
  CHECK(heads.error().message ==
        "small.json: /num_attention_heads: got 33, expected a divisor of "
        "hidden_size, which is 4096");
  text = small;
  text.replace(text.find("hidden_size"), 11, "hiden_size");
  const auto hidden = parse_model(text, "small.json");
  REQUIRE_FALSE(hidden.ok());
  CHECK(hidden.error().message ==
        "small.json: /hidden_size: missing key (did you mean 'hiden_size'?), expected a whole "
        "number from 1 to 1e+07");
}
