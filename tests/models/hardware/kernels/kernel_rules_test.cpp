#include "models/hardware/kernels/kernel_rules.h"

#include <array>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

using namespace foretrace;

namespace {

std::string error_of(std::string_view groups) {
  const std::string text = R"({"schema": "foretrace.kernels/1", "library": "x", "source": "s", )"
                           R"("order": 1, "groups": [)" +
                           std::string(groups) + "]}";
  const std::array<RuleText, 1> texts = {RuleText{"rules.json", text}};
  const auto rules = KernelRules::parse(texts);
  REQUIRE_FALSE(rules.ok());
  return rules.error().message;
}

}  // namespace

TEST_CASE("kernel rules: every file of configs/kernels is built in and reads") {
  std::size_t files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(FORETRACE_SOURCE_DIR "/configs/kernels")) {
    if (entry.path().extension() == ".json") ++files;
  }
  CHECK(built_in_kernel_rules().size() == files);
  const auto rules = KernelRules::parse(built_in_kernel_rules());
  CHECK_MESSAGE(rules.ok(), rules.error().message);
}

TEST_CASE("kernel rules: names show their library") {
  const auto library = [](std::string_view name) {
    return kernel_rules().facts(name).traits.library;
  };
  CHECK(library("ncclDevKernel_AllReduce_Sum_f32_RING_LL") == "nccl");
  CHECK(library("triton_poi_fused_add_relu_3") == "triton");
  CHECK(library("void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64>>") ==
        "attention");
  CHECK(library("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x128_32x5_nn_align4>") ==
        "cutlass");
  CHECK(library("void cudnn::ops::nchwToNhwcKernel<float>(Params)") == "cudnn");
  CHECK(library("ampere_sgemm_128x64_tn") == "cublas");
  CHECK(library("Cijk_Alik_Bljk_BBS_BH_MT128x224x64") == "tensile");
  CHECK(library("igemm_fwd_gtcx3_nhwc_bf16") == "miopen");
  CHECK(library("void ck::kernel_gemm_xdl_cshuffle_v3<GridwiseGemm>()") == "composable_kernel");
  CHECK(library("void at::native::vectorized_elementwise_kernel<4, F>(int)") == "pytorch");
  CHECK(library("mystery").empty());
}

TEST_CASE("kernel rules: Composable Kernel's convolutions are no plain products") {
  const auto facts = kernel_rules().facts(
      "_ZN2ck16tensor_operation6device12_GLOBAL__N_139kernel_grouped_conv_fwd_xdl_cshuffle_v3INS_"
      "28GridwiseGemm_xdl_cshuffle_v3INS_13tensor_layout4gemm8RowMajorE");
  CHECK(to_string(facts.traits.kernel_class) == "convolution");
  CHECK(facts.traits.compute_bound);
}

TEST_CASE("kernel rules: names show the tile, and whether a block works on each") {
  const auto tile = [](std::string_view name) { return kernel_rules().facts(name).tile; };
  const auto ampere = tile("ampere_sgemm_128x64_tn");
  REQUIRE(ampere.has_value());
  CHECK(ampere->m == 128);
  CHECK(ampere->n == 64);
  CHECK(ampere->one_block_per_tile);
  const auto tensile = tile("Cijk_Alik_Bljk_BBS_BH_Bias_MT256x224x64_MI16x16x1");
  REQUIRE(tensile.has_value());
  CHECK(tensile->m == 256);
  CHECK(tensile->n == 224);
  CHECK_FALSE(tensile->one_block_per_tile);
  CHECK(tile("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x256x64_cublas")->n == 256);
  CHECK_FALSE(tile("ampere_sgemm_32x32_sliced1x4_tn").has_value());
  CHECK_FALSE(tile("ampere_sgemm_9999x64_tn").has_value());
  CHECK_FALSE(tile("vectorized_elementwise_kernel_128x64").has_value());
}

TEST_CASE("kernel rules: mistakes are named by file, pointer and the nearest word") {
  CHECK(error_of(R"({"stage": 1, "class": "gem", "parts": ["x"]})")
            .starts_with("rules.json: /groups/0/class: got 'gem' (did you mean 'gemm'?)"));
  CHECK(error_of(R"({"stage": 1, "class": "gemm"})")
            .starts_with("rules.json: /groups/0/parts: missing key"));
  CHECK(error_of(R"({"stage": 1, "class": "gemm", "parts": ["x"], "compute_bound": 1})")
            .starts_with("rules.json: /groups/0/compute_bound: got the number 1"));
  CHECK(error_of(R"({"stage": 1, "class": "gemm", "part": ["x"], "parts": ["x"]})")
            .find("unknown key (did you mean 'parts'?)") != std::string::npos);
  CHECK(error_of("7").starts_with("rules.json: /groups: got the number 7 in the list"));
}

TEST_CASE("kernel rules: a lower stage goes first, whatever the order of files") {
  const std::array<RuleText, 2> texts = {
      RuleText{"a.json", R"({"schema": "foretrace.kernels/1", "library": "a", "source": "s",
        "order": 1, "groups": [{"stage": 2, "class": "gemm", "parts": ["fused"]}]})"},
      RuleText{"b.json", R"({"schema": "foretrace.kernels/1", "library": "b", "source": "s",
        "order": 2, "groups": [{"stage": 1, "class": "copy", "parts": ["fused_copy"]}]})"}};
  const auto rules = KernelRules::parse(texts);
  REQUIRE_MESSAGE(rules.ok(), rules.error().message);
  CHECK(to_string(rules->facts("Fused_Copy_7").traits.kernel_class) == "copy");
  CHECK(to_string(rules->facts("fused_7").traits.kernel_class) == "gemm");
  CHECK_FALSE(rules->facts("other").known);
}
