#include "models/hardware/kernels/kernel_class.h"

#include <doctest/doctest.h>

using foretrace::classify;
using foretrace::KernelClass;
using foretrace::Precision;
using foretrace::TaskKind;

namespace {

void check_kernel(std::string_view name, KernelClass kernel_class, Precision precision) {
  CAPTURE(name);
  const auto traits = classify({.name = name});
  CHECK(to_string(traits.kernel_class) == to_string(kernel_class));
  CHECK(to_string(traits.precision) == to_string(precision));
}

}  // namespace

TEST_CASE("kernel class: products of every library and generation are told apart by precision") {
  check_kernel("ampere_sgemm_128x64_tn", KernelClass::gemm, Precision::fp32);
  check_kernel("volta_sgemm_64x64_nt", KernelClass::gemm, Precision::fp32);
  check_kernel("ampere_bf16_s16816gemm_bf16_128x256_ldg8_relu_f2f_stages_64x3_tn",
               KernelClass::gemm, Precision::bf16);
  check_kernel("volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn", KernelClass::gemm, Precision::fp16);
  check_kernel("turing_fp16_s1688gemm_fp16_256x64_ldg8_f2f_nn", KernelClass::gemm, Precision::fp16);
  check_kernel("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x128_32x5_nn_align4>(Params)",
               KernelClass::gemm, Precision::tf32);
  check_kernel("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas",
               KernelClass::gemm, Precision::bf16);
  check_kernel("nvjet_tst_192x192_64x3_2x1_v_bz_coopB_NNN", KernelClass::gemm, Precision::bf16);
  check_kernel("nvjet_sm90_tst_192x192_64x3_2x1_v_bz_coopB_NNN", KernelClass::gemm,
               Precision::bf16);
  check_kernel("nvjet_sm90_hsh_128x256_64x4_2x1_v_bz_coopA_TNT", KernelClass::gemm,
               Precision::fp16);
  check_kernel("nvjet_sm100_qqtst_128x256_128x6_2x1_2cta_v_bz_TNT", KernelClass::gemm,
               Precision::fp8);
  check_kernel("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x224x64", KernelClass::gemm,
               Precision::bf16);
  check_kernel("Cijk_Ailk_Bljk_SB_MT64x64x16_SE_K1", KernelClass::gemm, Precision::fp32);
}

TEST_CASE("kernel class: convolutions are products, the layout changes around them are copies") {
  check_kernel("volta_scudnn_128x64_relu_interior_nn_v1", KernelClass::convolution,
               Precision::fp32);
  check_kernel("void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int)",
               KernelClass::convolution, Precision::fp32);
  check_kernel("void cudnn::winograd_nonfused::winogradWgradData4x4<float, float>(Params)",
               KernelClass::copy, Precision::fp32);
  check_kernel("void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>(Params)",
               KernelClass::copy, Precision::fp32);
}

TEST_CASE("kernel class: a product with a vector is bound by bytes") {
  CHECK(classify({.name = "ampere_sgemm_128x64_tn"}).compute_bound);
  CHECK_FALSE(classify({.name = "void gemv2T_kernel_val<int, float, 128>(Params)"}).compute_bound);
  CHECK_FALSE(classify({.name = "void gemmSN_TN_kernel<float, 128, 16, 2>(Params)"}).compute_bound);
}

TEST_CASE("kernel class: what autocast keeps in fp32 is known for norms, softmax and losses") {
  CHECK(classify({.name = "void (anonymous namespace)::softmax_warp_forward<float, float>"})
            .keeps_fp32);
  CHECK(classify({.name = "vectorized_layer_norm_kernel<float, float>"}).keeps_fp32);
  CHECK_FALSE(classify({.name = "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float>"}).keeps_fp32);
  CHECK_FALSE(
      classify({.name = "vectorized_elementwise_kernel<4, CUDAFunctor_add<float> >"}).keeps_fp32);
}

TEST_CASE("kernel class: data that is not floating has no precision") {
  check_kernel("CatArrayBatchedCopy<bool, unsigned int, 3, 128, 1>", KernelClass::copy,
               Precision::unknown);
  check_kernel(
      "vectorized_elementwise_kernel<4, compare_scalar_kernel<double>(TensorIteratorBase&)>",
      KernelClass::elementwise, Precision::fp64);
}

TEST_CASE("kernel class: the operator helps only where the name says nothing") {
  CHECK(classify({.name = "mystery", .operator_name = "aten::addmm"}).kernel_class ==
        KernelClass::gemm);
  CHECK(classify({.name = "mystery"}).kernel_class == KernelClass::other);
  CHECK(classify({.name = "", .operator_name = ""}).kernel_class == KernelClass::other);
  CHECK(classify({.name = "elementwise_kernel<x>", .operator_name = "aten::addmm"}).kernel_class ==
        KernelClass::elementwise);
  CHECK(classify({.name = "mystery", .types = R"(["c10::BFloat16", "float"])"}).precision ==
        Precision::bf16);
}

TEST_CASE("kernel class: copies and collectives are known by their kind") {
  CHECK(classify({.name = "gemm", .kind = TaskKind::copy}).kernel_class == KernelClass::copy);
  CHECK(classify({.name = "x", .kind = TaskKind::collective}).kernel_class ==
        KernelClass::collective);
}

TEST_CASE(
    "kernel class: kernels that XLA generates are told by their instruction where it is known") {
  check_kernel("gemm_fusion_dot_52", KernelClass::gemm, Precision::unknown);
  check_kernel("fusion_887", KernelClass::other, Precision::unknown);
  const auto with = [](std::string_view operator_name) {
    return classify({.name = "fusion_887",
                     .operator_name = operator_name,
                     .types = R"(["c10::BFloat16", "float"])"});
  };
  CHECK(with("fusion:reduce_sum").kernel_class == KernelClass::reduction);
  CHECK(with("fusion:mul").kernel_class == KernelClass::elementwise);
  CHECK(with("fusion:mul").precision == Precision::bf16);
  CHECK(with("fusion:mul").library == "xla");
  const auto product = classify({.name = "a_kernel_of_a_library", .operator_name = "dot_general"});
  CHECK(product.kernel_class == KernelClass::gemm);
  CHECK(product.compute_bound);
}
