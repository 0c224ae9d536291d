#include "models/jobs/workloads/transformer.h"

#include <string>

#include <doctest/doctest.h>

#include "models/hardware/catalogue/accelerator.h"
#include "models/jobs/workloads/model_spec.h"
#include "tests/configs.h"

using foretrace::BatchShape;
using foretrace::Block;
using foretrace::BlockRole;
using foretrace::build_transformer;
using foretrace::find_model;
using foretrace::KernelSet;
using foretrace::model_names;
using foretrace::ModelSpec;
using foretrace::Operator;
using foretrace::OperatorType;
using foretrace::Workload;

namespace {

ModelSpec model(const std::string& name) {
  auto found = find_model(*foretrace::test::shipped(), name);
  REQUIRE_MESSAGE(found.ok(), found.error().message);
  return std::move(*found);
}

double parameters(const std::string& name) {
  return weights_of(build_transformer(model(name).transformer, BatchShape{}, KernelSet{}));
}

const Block& layer_of(const Workload& workload) {
  for (const Block& block : workload.blocks) {
    if (block.role == BlockRole::layer) return block;
  }
  FAIL("no layer");
  return workload.blocks.front();
}

}  // namespace

TEST_CASE(
    "models: every file reads and builds, and has about as many parameters as its name says") {
  CHECK(model_names(*foretrace::test::shipped()).size() >= 60);
  for (const std::string& name : model_names(*foretrace::test::shipped())) {
    CAPTURE(name);
    // Models of microcontrollers are that small.
    CHECK(parameters(name) > (name.starts_with("micronet_") ? 4e4 : 1e6));
    CHECK_FALSE(model(name).source.empty());
  }
  // Published totals, in billions.
  struct Known {
    const char* name;
    double billions;
  };
  for (const Known known :
       {Known{"gpt3_175b", 174.6}, Known{"gpt_530b", 529.6}, Known{"gpt_1t", 1008.0},
        Known{"llama2_7b", 6.74}, Known{"llama2_70b", 68.98}, Known{"llama3_8b", 8.03},
        Known{"llama3_70b", 70.55}, Known{"llama3_405b", 405.9}, Known{"mixtral_8x7b", 46.7},
        Known{"deepseek_v3", 671.0}, Known{"qwen3_30b_a3b", 30.5}, Known{"gpt_oss_120b", 116.8},
        Known{"qwen2_7b", 7.6}, Known{"bert_large", 0.335}}) {
    CAPTURE(known.name);
    CHECK(parameters(known.name) * 1e-9 == doctest::Approx(known.billions).epsilon(0.015));
  }
}

TEST_CASE("models: tables and hubs find them by product, alias and other spellings") {
  const auto& catalogue = *foretrace::test::shipped();
  CHECK(find_model(catalogue, "Llama-2-7b-hf")->name == "llama2_7b");
  CHECK(find_model(catalogue, "meta-llama/Llama-2-7b-hf")->name == "llama2_7b");
  CHECK(find_model(catalogue, "LLAMA3 70B")->name == "llama3_70b");
  CHECK(find_model(catalogue, "GPT-3 175B")->name == "gpt3_175b");
  const auto unknown = find_model(catalogue, "mistralai/Mistral_8b");
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().message.find("(did you mean 'mistral_7b'?)") != std::string::npos);
  CHECK_FALSE(find_model(catalogue, "no/such.json").ok());
}

TEST_CASE("models: a path that is not there is no name of a hub") {
  const auto& catalogue = *foretrace::test::shipped();
  for (const std::string& name : foretrace::model_names(catalogue)) {
    CAPTURE(name);
    CHECK(find_model(catalogue, name)->name == name);
    CHECK(find_model(catalogue, "owner/" + name)->name == name);
    CHECK(find_model(catalogue, name + "/")->name == name);
    for (const char* const folder : {"./", "./nowhere/", "/", "/tmp/none/", "../", "~/", "a/b/"}) {
      const auto found = find_model(catalogue, folder + name);
      CAPTURE(folder);
      REQUIRE_FALSE(found.ok());
      CHECK(found.error().code == foretrace::ErrorCode::not_found);
      CHECK(found.error().message.find("did you mean '" + name + "'") != std::string::npos);
    }
  }
}

TEST_CASE("models: a hub's variants of one size are found, others are told with the nearest") {
  const auto& catalogue = *foretrace::test::shipped();
  CHECK(find_model(catalogue, "bert-base-uncased")->name == "bert_base");
  CHECK(find_model(catalogue, "google-bert/bert-large-uncased")->name == "bert_large");
  CHECK(find_model(catalogue, "meta-llama/Llama-2-7b-chat-hf")->name == "llama2_7b");
  CHECK(find_model(catalogue, "meta-llama/Llama-3.2-1B-Instruct/")->name == "llama32_1b");
  CHECK(find_model(catalogue, "nvidia/Nemotron-4-340B-Base")->name == "nemotron4_340b");
  CHECK(find_model(catalogue, "mistralai/Mixtral-8x7B-Instruct-v0.1")->name == "mixtral_8x7b");
  CHECK(find_model(catalogue, "facebook/opt-1.3b")->name == "opt_1.3b");
  // Of another vocabulary, and of a longer window.
  for (const auto& pair :
       {std::pair{"bert-large-cased", "bert_large"},
        std::pair{"bert-large-uncased-whole-word-masking-finetuned-squad", "bert_large"},
        std::pair{"mistralai/Mistral-7B-Instruct-v0.3", "mistral_7b"}}) {
    const auto& [name, nearest] = pair;
    CAPTURE(pair.first);
    const auto found = find_model(catalogue, name);
    REQUIRE_FALSE(found.ok());
    CHECK(found.error().message.find(nearest) < found.error().message.find(", expected"));
  }
}

TEST_CASE("transformer: a layer keeps 34 s b h + 5 a s^2 b bytes for backward") {
  // Korthikanti et al., MLSys 2023, equation 1: s 2048, b 4, h 6144, a 64
  BatchShape batch;
  batch.sequences = 4;
  const Workload workload = build_transformer(model("gpt_22b").transformer, batch, KernelSet{});
  double kept = 0;
  double core = 0;
  for (const Operator& op : layer_of(workload).operators) {
    kept += op.kept_bytes;
    core += op.kept_core_bytes;
  }
  const double sbh = 2048. * 4 * 6144;
  const double pairs = 64. * 2048 * 2048 * 4;
  CHECK(kept == doctest::Approx(34 * sbh + 5 * pairs));
  CHECK(core == doctest::Approx(5 * pairs));
}

TEST_CASE("transformer: products of a layer need 24 b s h^2 FLOPs forward, scores 4 b s^2 h") {
  const Workload workload =
      build_transformer(model("gpt3_175b").transformer, BatchShape{}, KernelSet{});
  double products = 0;
  double scores = 0;
  for (const Operator& op : layer_of(workload).operators) {
    if (op.type == OperatorType::product) products += op.shape.flops();
    if (op.type == OperatorType::batch_product) scores += op.shape.flops();
  }
  const double s = 2048;
  const double h = 12288;
  CHECK(products == doctest::Approx(24 * s * h * h));
  CHECK(scores == doctest::Approx(4 * s * s * h));
}

TEST_CASE("transformer: only the last tokens of a prompt go through the head") {
  BatchShape batch;
  batch.pass = foretrace::Pass::prefill;
  batch.sequences = 8;
  const Workload workload = build_transformer(model("llama2_7b").transformer, batch, KernelSet{});
  for (const Operator& op : workload.blocks.back().operators) {
    if (op.name == "logits") CHECK(op.shape.m == doctest::Approx(8));
  }
}

TEST_CASE(
    "transformer: layers with and without experts, near and far sight are blocks of their own") {
  const Workload mixed =
      build_transformer(model("deepseek_v3").transformer, BatchShape{}, KernelSet{});
  // Embedding, 3 dense layers, 58 with experts, head.
  REQUIRE(mixed.order.size() == 4);
  CHECK(mixed.order[1].count == 3);
  CHECK(mixed.order[2].count == 58);
  const Workload windows =
      build_transformer(model("gpt_oss_20b").transformer, BatchShape{}, KernelSet{});
  CHECK(windows.blocks.size() == 4);
}

TEST_CASE("models: under autocast a layer keeps more than in 16 bit, and less than in 32") {
  const auto kept = [](const ModelSpec& spec, double number_bytes, double product_bytes) {
    BatchShape batch;
    batch.number_bytes = number_bytes;
    batch.product_bytes = product_bytes;
    KernelSet kernels;  // in many kernels, weights of attention are kept in 32 bit and as cast
    kernels.attention = foretrace::AttentionKernel::flash2;
    double bytes = 0;
    for (const Block& block : build_transformer(spec.transformer, batch, kernels).blocks) {
      for (const Operator& op : block.operators) bytes += op.kept_bytes;
    }
    return bytes;
  };
  for (const std::string& name : model_names(*foretrace::test::shipped())) {
    CAPTURE(name);
    const ModelSpec spec = model(name);
    const double half = kept(spec, 2, 2);
    const double cast = kept(spec, 4, 2);
    const double full = kept(spec, 4, 4);
    CHECK(half < full);
    CHECK(cast < full);
    // Norms of networks of convolutions take what those give as it is.
    if (spec.transformer.layered != nullptr) {
      CHECK(cast == half);
    } else {
      CHECK(cast > half);
    }
  }
}
