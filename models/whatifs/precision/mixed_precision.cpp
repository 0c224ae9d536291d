// Mixed precision: matrix kernels run on units of lower precision, data that follows is smaller.
//
//   before   launch -> gemm fp32 (100 us) -> relu fp32 (20 us) -> softmax fp32 (10 us)
//   after    launch -> gemm bf16 ( 13 us) -> relu bf16 (11 us) -> softmax fp32 (10 us)
//            (+ launch -> cast of the weight, once per layer and forward pass, under autocast)
//   Host calls, gaps, latencies, copies from and to the host and the optimizer's update keep their
//   times. Collectives of fp32 activations move half (mode=full: those of gradients, too).
//   dtype=tf32 changes products only: the same bytes, another unit.
//
//   dtype=fp8: linear layers in fp8 behind casts of their operands, the rest as above
//   forward  [cast weight][cast activation][gemm fp8]
//   backward [cast gradient][gemm fp8][gemm fp8]
//
//   loss scaling (fp16 in training): a pass over the gradients before every update
//   backward -> [unscale and check gradients] -> host waits for found_inf -> update
//
// memory    (where tensors are recorded) autocast: what a kernel writes takes half if it is a
//           product, and half of `followers` otherwise; indices, masks and statistics stay;
//           parameters, gradients and states stay fp32, and a 16-bit copy of every weight that is
//           cast lives until the backward pass ends. full: results, parameters and gradients take
//           half, states too with update=true. fp8: 8-bit copies of the weights instead of 16-bit
//           ones. tf32 and Daydream's constants: nothing.
#include <array>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "models/editing/kernels/recorded_accelerator.h"
#include "models/whatifs/precision/precision_editor.h"
#include "models/whatifs/what_if.h"

namespace foretrace::mixed_precision_parts {
namespace {

constexpr ParamInfo dtype_param = {
    .name = "dtype",
    .type = ParamType::text,
    .default_text = "auto",
    .doc =
        "auto: bf16 where the accelerator has it, else fp16; tf32: fp32 products on TF32 "
        "units, nothing else; fp8: linear products in fp8, other fp32 kernels in bf16.",
    .choices = "auto|bf16|fp16|tf32|fp8"};
constexpr ParamInfo mode_param = {
    .name = "mode",
    .type = ParamType::text,
    .default_text = "autocast",
    .doc =
        "autocast: parameters and its fp32 list stay fp32; full: the whole model is cast, "
        "norms and softmax too.",
    .choices = "autocast|full"};
constexpr ParamInfo model_param = {
    .name = "model",
    .type = ParamType::text,
    .default_text = "roofline",
    .doc =
        "roofline: per kernel from shapes and the accelerator file; daydream: x 1/3 for "
        "products and x 1/2 for the rest.",
    .choices = "roofline|daydream"};
constexpr ParamInfo followers_param = {
    .name = "followers",
    .unit = "1",
    .default_text = "0.75",
    .doc =
        "Share of elementwise, copy and batch-norm time that runs on 16-bit data under autocast, "
        "where shapes are unknown (casts=all follows them).",
    .minimum = 0,
    .maximum = 1,
    .optimistic = "1",
    .pessimistic = "0.5"};
constexpr ParamInfo casts_param = {
    .name = "casts",
    .type = ParamType::text,
    .default_text = "all",
    .doc =
        "weights: insert one cast per product with a recorded weight in forward; all: also casts "
        "of activations and gradients between 16-bit and fp32 operators, where shapes are "
        "recorded; none: no casts.",
    .choices = "all|weights|none"};
constexpr ParamInfo cast_host_param = {
    .name = "cast_host",
    .type = ParamType::time,
    .unit = "us",
    .default_text = "10 us",
    .doc = "Host time of one cast before its launch call (framework dispatch).",
    .minimum = 0,
    .maximum = 1e9,
    .optimistic = "5 us",
    .pessimistic = "20 us"};
constexpr ParamInfo fp8_copies_param = {
    .name = "fp8_copies",
    .unit = "1",
    .default_text = "2",
    .doc =
        "8-bit copies that a cast to fp8 writes in training: 2 where units multiply one "
        "layout only (Hopper), so that backward needs the transposed one; else 1.",
    .minimum = 1,
    .maximum = 2,
    .optimistic = "1",
    .pessimistic = "2"};
constexpr ParamInfo loss_scaling_param = {
    .name = "loss_scaling",
    .type = ParamType::text,
    .default_text = "auto",
    .doc =
        "dynamic: gradients are unscaled and checked before every update; auto: "
        "dynamic for fp16 in training, else none.",
    .choices = "auto|dynamic|none"};
constexpr ParamInfo parameters_param = {
    .name = "parameters",
    .unit = "1",
    .default_text = "0",
    .doc =
        "Gradients that loss scaling checks; 0: from shapes of the update or recorded "
        "weights.",
    .minimum = 0,
    .maximum = 1e13};
constexpr ParamInfo unscale_host_param = {
    .name = "unscale_host",
    .type = ParamType::time,
    .unit = "us",
    .default_text = "100 us",
    .doc = "Host time to collect the gradients before the unscale kernel's launch.",
    .minimum = 0,
    .maximum = 1e9,
    .optimistic = "20 us",
    .pessimistic = "500 us"};
constexpr ParamInfo readback_host_param = {
    .name = "readback_host",
    .type = ParamType::time,
    .unit = "us",
    .default_text = "30 us",
    .doc = "Host time of .item() on found_inf beside its waiting.",
    .minimum = 0,
    .maximum = 1e9,
    .optimistic = "15 us",
    .pessimistic = "60 us"};
constexpr ParamInfo update_param = {
    .name = "update",
    .type = ParamType::boolean,
    .default_text = "false",
    .doc = "Also change the optimizer's kernels (16-bit states and gradients)."};

// auto: bf16 where the accelerator has it.
Precision half_type(const std::string& dtype, const Accelerator* accelerator) {
  if (dtype == "bf16") return Precision::bf16;
  if (dtype == "fp16") return Precision::fp16;
  const bool has_bf16 = accelerator != nullptr && accelerator->flops(Precision::bf16) > 0;
  return has_bf16 || dtype == "fp8" ? Precision::bf16 : Precision::fp16;
}

Status check_units(const editing::PrecisionChoice& choice, const Accelerator* accelerator) {
  if (accelerator == nullptr) return ok_status();
  const auto lacks = [&](Precision precision, std::string_view instead) {
    return Error{ErrorCode::unsupported,
                 fmt::format("{} has no {} units, expected {}", accelerator->name,
                             to_string(precision), instead)};
  };
  if (choice.tf32) {
    return accelerator->flops(Precision::tf32) > 0 ? ok_status()
                                                   : lacks(Precision::tf32, "dtype=fp16");
  }
  if (choice.fp8 && accelerator->flops(Precision::fp8) <= 0) {
    return lacks(Precision::fp8,
                 accelerator->flops(Precision::bf16) > 0 ? "dtype=bf16 or fp16" : "dtype=fp16");
  }
  if (accelerator->flops(choice.half) <= 0) return lacks(choice.half, "dtype=fp16");
  return ok_status();
}

editing::PrecisionChoice choice_of(const ParamValues& params) {
  const std::string& dtype = params.text(dtype_param);
  editing::PrecisionChoice choice;
  choice.tf32 = dtype == "tf32";
  choice.fp8 = dtype == "fp8";
  choice.autocast = params.text(mode_param) == "autocast" && !choice.tf32;
  choice.daydream = params.text(model_param) == "daydream";
  choice.update = params.boolean(update_param);
  choice.casts = !choice.tf32 && !choice.daydream && params.text(casts_param) != "none";
  choice.activations =
      choice.casts && choice.autocast && !choice.fp8 && params.text(casts_param) == "all";
  choice.followers = choice.autocast ? params.number(followers_param) : 1;
  choice.fp8_copies = params.number(fp8_copies_param);
  choice.parameters = params.number(parameters_param);
  choice.cast_host_ns = params.integer(cast_host_param);
  choice.unscale_host_ns = params.integer(unscale_host_param);
  choice.readback_host_ns = params.integer(readback_host_param);
  return choice;
}

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  editing::PrecisionChoice choice = choice_of(params);
  if (choice.daydream && (choice.tf32 || choice.fp8)) {
    return Error{ErrorCode::unsupported,
                 fmt::format("model=daydream has constants for 16 bit only, got dtype={}, expected "
                             "dtype=auto, bf16 or fp16",
                             params.text(dtype_param))};
  }
  const Accelerator* accelerator = scenario.accelerator;
  if (!choice.daydream) {
    FORETRACE_TRY(accelerator, editing::recorded_accelerator(
                                   scenario, params.text(editing::recorded_accelerator_param)));
  }
  choice.half = half_type(params.text(dtype_param), accelerator);
  FORETRACE_TRY(check_units(choice, accelerator));
  const std::string& scaling = params.text(loss_scaling_param);
  choice.needs_scaling = scaling == "dynamic";
  choice.loss_scaling =
      choice.needs_scaling ||
      (scaling == "auto" && choice.half == Precision::fp16 && !choice.tf32 && !choice.daydream);
  return editing::lower_precision({scenario.graph, accelerator, scenario.catalogue}, choice);
}

constexpr std::array<std::string_view, 12> assumptions = {
    "The device is the limit. Where the host is (host_bound in the breakdown), the answer is near "
    "1.0x, and real autocast is often slower than before: every cast costs host time (cast_host).",
    "Every fp32 or TF32 product (GEMM, convolution, fused attention) gets a 16-bit kernel as good "
    "for its shape as the GEMM model says. A library may lack one or pick a slow one for small, "
    "odd or grouped shapes; the range does not cover that.",
    "Shapes of products are known: from record_shapes=True, else from tile and grid of cuBLAS "
    "kernels of Volta to Ampere. For the rest (the note gives its share) the time is the "
    "geometric mean of 'all arithmetic' and 'all bytes' and the range is both: above a third, "
    "treat the answer as a guess.",
    "Convolutions run in channels-last. In NCHW cuDNN adds layout changes that can eat the gain, "
    "and the output size of forward convolutions is known from the gradients of a backward pass "
    "only: without one their time is such a guess.",
    "Kernels bound by bytes move half of them at the same share of the bandwidth.",
    "Under autocast normalization (but batch norm), softmax, losses, powers and embeddings stay "
    "fp32; `followers` of the other elementwise time has 16-bit inputs (0.5 to 1 in the range). "
    "Where most products are 16 bit already, only what an fp32 product writes follows: tensors "
    "that the program casts to fp32, and what it computes from them, stay.",
    "Kernel names state their precision: fp32 products on TF32 units are named so. Custom, Triton "
    "and XLA kernels without a type in their name stay as measured, in the range down to half; see "
    "their share in the note.",
    "fp8: linear products of known shape, sizes but for rows multiples of 16, run at the fp8 rate; "
    "one kernel casts each activation, weight and gradient and finds the next scale.",
    "Loss scaling: one multi-tensor kernel reads and writes all gradients before an update, whose "
    "host code waits for the result, as GradScaler.step does without a fused optimizer.",
    "Memory: a kernel that turns to 16 bit writes 16 bit, `followers` of the elementwise ones; "
    "integers, masks and statistics stay; copies of weights live until their backward pass ends.",
    "The run keeps batch size, algorithms and order of kernels; a compiled model fuses anew and "
    "is a different run.",
    "The range is of whole classes: products of known shape 10 %, derived shape 15 to 18 %, "
    "convolution and attention 25 to 33 %, other kernels 10 to 15 %. Single kernels scatter more."};
constexpr std::array<std::string_view, 8> ignores = {
    "casts of small tensors (below 4,096 numbers), of biases, and of tensors whose shapes are not "
    "recorded",
    "loss scaling: the update of the scale, skipped steps, and fused optimizers that need no wait",
    "fp8: results counted as 8 bit in the time of products, update of scales, 8-bit activations "
    "kept for backward, fusion of casts with what is "
    "before them, weights cast once for several passes",
    "time of the casts of convolutions' weights (their copies are counted in memory)",
    "cuDNN and MIOpen switching to channels-last or inserting layout changes",
    "fewer bytes in copies, and in collectives that are not recorded as fp32 sums (gradients stay "
    "fp32 under autocast)",
    "the larger batch that saved memory allows",
    "accuracy and the number of steps to reach it"};

constexpr std::array params = {dtype_param,
                               mode_param,
                               model_param,
                               followers_param,
                               casts_param,
                               cast_host_param,
                               fp8_copies_param,
                               loss_scaling_param,
                               parameters_param,
                               unscale_host_param,
                               readback_host_param,
                               update_param,
                               editing::recorded_accelerator_param};

}  // namespace

extern constexpr WhatIfInfo info = {
    .name = "mixed_precision",
    .summary = "Run products and what follows them in 16 bit, in TF32 or in fp8.",
    .paper =
        "P. Micikevicius et al., Mixed Precision Training, ICLR 2018; H. Zhu, A. Phanishayee, G. "
        "Pekhimenko, Daydream: Accurately Estimating the Efficacy of Optimizations for DNN "
        "Training, USENIX ATC 2020; P. Micikevicius et al., FP8 Formats for Deep Learning, 2022.",
    .recipe =
        "Every fp32 or TF32 kernel of forward and backward gets a new time: products by the ratio "
        "of model times (tiles in waves at the sustained rate, or bytes) in both precisions, half "
        "the rate if a size is no multiple of 8; other kernels keep their first 1.8 us and move "
        "half the bytes. Kernels that are 16 bit, fp64, integer, on autocast's fp32 list, part of "
        "the update or unknown stay as measured. Host calls, gaps and copies stay. Under autocast "
        "one cast kernel and its launch are inserted per weight with a recorded shape. Collectives "
        "that add activations in fp32 move half the bytes; with mode=full those of gradients, too. "
        "dtype=tf32 gives fp32 products the ratio of TF32 only; dtype=fp8 gives linear products "
        "that of fp8, with kernels that cast weight, activation and gradient. Loss scaling inserts "
        "a kernel over all gradients before each update, and a wait of the host. Recorded tensors "
        "shrink with what their kernels write; copies of weights are added.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate =
        "followers: share of 16-bit elementwise kernels in any autocast trace of a like model. "
        "sustained_flops in the accelerator file: a GEMM benchmark in both precisions. cast_host: "
        "host time between two aten::to calls in such a trace.",
    .identity = {.none_because = "kernels of that type are left; where all have it, it declines"},
    .params = params,
    .apply = apply,
    .stage = ApplyStage::precision};

}  // namespace foretrace::mixed_precision_parts
