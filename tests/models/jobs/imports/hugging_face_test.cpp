#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/hardware/catalogue/imported_file.h"
#include "models/jobs/workloads/model_import.h"
#include "models/jobs/workloads/model_spec.h"
#include "models/jobs/workloads/transformer.h"

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
        "g.json: /hidden_size: got -4096, expected a whole number from 0 to 1e+08");
  const auto text = llama(R"("hidden_size": "big", "num_attention_heads": 32)");
  REQUIRE_FALSE(text.ok());
  CHECK(text.error().message ==
        "g.json: /hidden_size: got 'big', expected a whole number from 0 to 1e+08");
  CHECK_FALSE(parse_model("[1, 2", "e.json").ok());
  CHECK_FALSE(parse_model("{}", "f.json").ok());
}

namespace {

foretrace::Result<foretrace::ModelSpec> read_config_json(const std::string& path) {
  const auto file = foretrace::read_imported_file(path);
  if (!file.ok()) return file.error();
  const foretrace::ModelImport* const import = foretrace::model_import_of(*file);
  if (import == nullptr) return foretrace::Error{foretrace::ErrorCode::not_found, path};
  return import->read(*file);
}

std::string hub_fixture(const std::string& name) {
  return FORETRACE_SOURCE_DIR "/tests/fixtures/hub_configs/" + name + ".json";
}

double billions_of(const foretrace::TransformerSpec& spec) {
  foretrace::BatchShape batch;
  batch.pass = foretrace::Pass::decode;
  return foretrace::weights_of(foretrace::build_transformer(spec, batch, {})) / 1e9;
}

}  // namespace

// Parameters as published (Hugging Face hub, model cards); of models made up here: matrices of the
// sizes in the file, added up by hand.
TEST_CASE("config.json: parameters are those that were published, within 0.5 %") {
  struct Row {
    const char* file;
    double billions;
    double cache_bytes;  // of a token, bf16, where every layer sees all
  };
  const std::vector<Row> rows = {
      {"llama4_maverick", 400.7, 196608}, {"llama4_scout_positions", 107.8, 196608},
      {"step_like", 196, 184320},         {"gemma3_1b", 0.9999, 26624},
      {"gemma2_9b", 9.242, 344064},       {"gemma3_27b", 27.0, 507904},
      {"command_r_plus", 103.8, 262144},  {"mpt_30b", 29.96, 1376256},
      {"falcon_40b", 41.8, 122880},       {"dbrx", 131.6, 163840},
      {"gpt_oss_120b", 116.8, 73728},     {"infinity", 6.738, 524288}};
  for (const Row& row : rows) {
    CAPTURE(row.file);
    const auto model = read_config_json(hub_fixture(row.file));
    REQUIRE_MESSAGE(model.ok(), model.error().message);
    const auto& spec = model->transformer;
    CHECK(std::abs(billions_of(spec) / row.billions - 1) < 0.005);
    CHECK(2 * 2 * spec.kv_heads * spec.head_size * spec.layers == row.cache_bytes);
  }
  // 57 layers x 128 experts x 3 matrices x 6144 x 3072.
  const auto gated = read_config_json(hub_fixture("m3_like"));
  REQUIRE_MESSAGE(gated.ok(), gated.error().message);
  CHECK(billions_of(gated->transformer) > 413);
}

TEST_CASE("config.json: what is no plain transformer is refused by its name") {
  const auto refusal = [](const char* name) {
    const auto model = read_config_json(hub_fixture(name));
    return model.ok() ? std::string() : model.error().message;
  };
  const auto says = [&](const char* name, std::string_view what) {
    CAPTURE(name);
    CAPTURE(refusal(name));
    CHECK(refusal(name).find(what) != std::string::npos);
  };
  says("qwen3_next", "/full_attention_interval: got the number 4");
  says("jamba_mini", "/expert_layer_period: got the number 2");
  says("granite_h_small", "/layer_types: got 'mamba'");
  says("t5_11b", "'t5' is an encoder with a decoder");
  says("flan_t5_xl", "'t5' is an encoder with a decoder");
  says("mamba2", "'mamba2' is a state space model");
  says("vit", "'vit' is an image encoder");
  says("whisper", "'whisper' is a speech encoder with a decoder");
  says("flux", "/_class_name: a model of diffusers");
  says("dit", "/_class_name: a model of diffusers");
}

TEST_CASE("config.json: windows lie where the file, or its class, puts them") {
  const auto window = [](const char* name) {
    const auto model = read_config_json(hub_fixture(name));
    REQUIRE_MESSAGE(model.ok(), model.error().message);
    return std::pair(model->transformer.window, model->transformer.full_every);
  };
  CHECK(window("gpt_oss_120b") == std::pair(128.0, 2U));  // layer_types
  CHECK(window("gemma3_1b") == std::pair(512.0, 6U));     // sliding_window_pattern
  CHECK(window("gemma2_9b") == std::pair(4096.0, 2U));    // every second one by its class
  CHECK(window("falcon_40b") == std::pair(0.0, 0U));
}

TEST_CASE("config.json: a member that tells of layers and that nobody reads is refused by name") {
  const auto with = [](const std::string& member) {
    return parse_model(
        R"({"model_type": "new", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
            "vocab_size": 100, )" +
            member + "}",
        "new.json");
  };
  const auto refused = with(R"("conv_kernel_size": 4)");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message ==
        "new.json: /conv_kernel_size: got the number 4: unsupported layers, expected a transformer "
        "of attention and feed-forward");
  for (const char* const harmless :
       {R"("conv_kernel_size": 0)", R"("attention_dropout": 0.1)", R"("hidden_act": "silu")",
        R"("rope_theta": 10000.0)", R"("eos_token_id": [1, 2])", R"("layer_norm_epsilon": 1e-5)",
        R"("num_nextn_predict_layers": 1)", R"("attention_bias": true)"}) {
    CAPTURE(harmless);
    CHECK(with(harmless).ok());
  }
}

TEST_CASE("config.json: every published one is read, or refused by a member's name") {
  const std::filesystem::path folder = FORETRACE_SOURCE_DIR "/../shared/model_configs";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("published config.json files are not here: nothing checked");
    return;
  }
  std::size_t read = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    const auto model = read_config_json(entry.path().string());
    read += model.ok() ? 1U : 0U;
    if (!model.ok())
      CHECK_MESSAGE(model.error().message.find(": /") != std::string::npos, model.error().message);
  }
  CHECK(read >= 25);
}
