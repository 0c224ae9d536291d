#include <string>

#include <doctest/doctest.h>

#include "models/workloads/model_spec.h"

using foretrace::Activation;
using foretrace::NormKind;
using foretrace::parse_model;
using foretrace::PositionKind;

TEST_CASE("config.json: a Llama is read as our own file describes it") {
  const auto model = parse_model(
      R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
          "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "hidden_act": "silu",
          "max_position_embeddings": 8192, "tie_word_embeddings": false, "rope_theta": 500000.0})",
      "config.json");
  REQUIRE_MESSAGE(model.ok(), model.error().message);
  const auto& spec = model->transformer;
  CHECK(spec.layers == 32);
  CHECK(spec.kv_heads == 8);
  CHECK(spec.head_size == 128);
  CHECK(spec.activation == Activation::swiglu);
  CHECK(spec.norm == NormKind::rms_norm);
  CHECK(spec.position == PositionKind::rotary);
  CHECK_FALSE(spec.has_bias);
}

TEST_CASE("config.json: old names, experts and latent attention are known") {
  const auto gpt2 = parse_model(
      R"({"model_type": "gpt2", "n_embd": 1280, "n_head": 20, "n_layer": 36, "vocab_size": 50257})",
      "a");
  REQUIRE(gpt2.ok());
  CHECK(gpt2->transformer.ffn == 5120);
  CHECK(gpt2->transformer.has_bias);
  const auto deepseek = parse_model(
      R"({"model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61, "num_attention_heads": 128,
          "num_key_value_heads": 128, "vocab_size": 129280, "intermediate_size": 18432,
          "n_routed_experts": 256, "num_experts_per_tok": 8, "moe_intermediate_size": 2048,
          "n_shared_experts": 1, "first_k_dense_replace": 3, "q_lora_rank": 1536, "kv_lora_rank": 512,
          "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128})",
      "b");
  REQUIRE(deepseek.ok());
  CHECK(deepseek->transformer.experts.count == 256);
  CHECK(deepseek->transformer.experts.shared_ffn == 2048);
  CHECK(deepseek->transformer.latent.key_rank == 512);
  CHECK(deepseek->transformer.head_size == 192);
}

TEST_CASE("config.json: what is missing is named; nonsense is refused") {
  const auto missing = parse_model(R"({"model_type": "llama", "hidden_size": 4096})", "c.json");
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().message ==
        "c.json: /num_hidden_layers: missing key, expected the size of a transformer");
  const auto heads = parse_model(
      R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 2, "num_attention_heads": 32,
          "num_key_value_heads": 5, "vocab_size": 10})",
      "d.json");
  REQUIRE_FALSE(heads.ok());
  CHECK(heads.error().message.find("expected a divisor of the 32 heads") != std::string::npos);
  const auto llama = [](const std::string& sizes) {
    return parse_model(
        R"({"model_type": "llama", "num_hidden_layers": 2, "vocab_size": 10, )" + sizes + "}",
        "g.json");
  };
  const auto odd = llama(R"("hidden_size": 4096, "num_attention_heads": 30)");
  REQUIRE_FALSE(odd.ok());
  CHECK(odd.error().message ==
        "g.json: /num_attention_heads: got 30, expected a divisor of hidden_size, which is 4096, "
        "or head_dim beside it");
  CHECK(llama(R"("hidden_size": 4096, "num_attention_heads": 30, "head_dim": 128)").ok());
  const auto negative = llama(R"("hidden_size": -4096, "num_attention_heads": 32)");
  REQUIRE_FALSE(negative.ok());
  CHECK(negative.error().message ==
        "g.json: /hidden_size: got -4096, expected a whole number from 0 to 1e+07");
  const auto text = llama(R"("hidden_size": "big", "num_attention_heads": 32)");
  REQUIRE_FALSE(text.ok());
  CHECK(text.error().message ==
        "g.json: /hidden_size: got 'big', expected a whole number from 0 to 1e+07");
  CHECK_FALSE(parse_model("[1, 2", "e.json").ok());
  CHECK_FALSE(parse_model("{}", "f.json").ok());
}
