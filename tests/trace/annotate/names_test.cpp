#include "trace/annotate/names.h"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

using foretrace::Phase;
using foretrace::trace::EventKind;
using foretrace::trace::is_collective_kernel;
using foretrace::trace::meaning_of_annotation;
using foretrace::trace::meaning_of_frame;
using foretrace::trace::meaning_of_operator;
using foretrace::trace::module_of;
using foretrace::trace::phase_of_words;
using foretrace::trace::step_number;

TEST_CASE("names: words of a range name one phase, or none when they name two") {
  CHECK(phase_of_words("## forward ##") == Phase::forward);
  CHECK(phase_of_words("DistributedDataParallel.forward") == Phase::forward);
  CHECK(phase_of_words("## alltoall_bwd_single ##") == Phase::backward);
  CHECK(phase_of_words("## zero_grad ##") == Phase::update);
  CHECK(phase_of_words("## wait_for_batch ##") == Phase::data_loading);
  CHECK(phase_of_words("compute loss") == Phase::forward);
  CHECK(phase_of_words("loss backward") == Phase::backward);
  CHECK(phase_of_words("forward-backward") == Phase::unknown);
  CHECK(phase_of_words("straightforward") == Phase::unknown);
  CHECK(phase_of_words("generate_masks 3 4") == Phase::unknown);
  CHECK(phase_of_words("") == Phase::unknown);
}

TEST_CASE("names: autograd nodes of old and new traces are recognized, their operators too") {
  for (const std::string_view name :
       {"autograd::engine::evaluate_function: AddmmBackward0", "NllLossBackward", "ReluBackward1",
        "torch::autograd::AccumulateGrad", "CompiledFunctionBackward",
        "torch::autograd::CopyBackwards"}) {
    CHECK_MESSAGE(meaning_of_operator(name).is_autograd_node, name);
    CHECK_MESSAGE(meaning_of_operator(name).phase == Phase::backward, name);
  }
  CHECK(meaning_of_operator("torch::autograd::AccumulateGrad").accumulates);
  CHECK(meaning_of_operator("aten::convolution_backward").phase == Phase::backward);
  CHECK_FALSE(meaning_of_operator("aten::convolution_backward").is_autograd_node);
  CHECK(meaning_of_operator("aten::mm").phase == Phase::unknown);
  CHECK(meaning_of_operator("aten::_fused_adamw_").phase == Phase::update);
  CHECK(meaning_of_operator("aten::_foreach_add_").is_on_list);
  CHECK(meaning_of_operator("## forward ##").phase == Phase::forward);
  CHECK(meaning_of_operator("ForwardFunction").phase == Phase::unknown);
}

TEST_CASE("names: ranges of PyTorch say loader, optimizer, step and communication") {
  CHECK(meaning_of_annotation("ProfilerStep#12").is_step);
  CHECK(step_number("ProfilerStep#12") == 12);
  CHECK(step_number("ProfilerStep#") == -1);
  CHECK(meaning_of_annotation("Optimizer.zero_grad#SGD.zero_grad").phase == Phase::update);
  CHECK(meaning_of_annotation("nccl:all_reduce").phase == Phase::communication);
  CHECK(meaning_of_annotation("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__")
            .phase == Phase::data_loading);
}

TEST_CASE("names: frames of torch.optim, torch.autograd and torch.utils.data name a phase") {
  CHECK(meaning_of_frame("torch/optim/adam.py(130): step").phase == Phase::update);
  CHECK(meaning_of_frame("/opt/site-packages/torch/_tensor.py(433): backward").phase ==
        Phase::backward);
  CHECK(meaning_of_frame("torch/_tensor.py(1002): __hash__").phase == Phase::unknown);
  CHECK(meaning_of_frame("torch/autograd/grad_mode.py(73): __init__").phase == Phase::unknown);
  CHECK(meaning_of_frame("torch/amp/grad_scaler.py(200): scale").phase == Phase::unknown);
  CHECK(meaning_of_frame("torch/amp/grad_scaler.py(300): unscale_").phase == Phase::update);
  CHECK(meaning_of_frame("torch/utils/data/dataloader.py(625): __next__").phase ==
        Phase::data_loading);
  CHECK(meaning_of_frame("nn.Module: Conv2d_0").phase == Phase::forward);
}

TEST_CASE("names: modules come from frames, forward ranges, dotted names and FSDP") {
  CHECK(module_of(EventKind::python_function, "nn.Module: Conv2d_0") == "Conv2d_0");
  CHECK(module_of(EventKind::python_function, "train.py(3): step") == "");
  CHECK(module_of(EventKind::user_annotation, "## forward:over_arch ##") == "over_arch");
  CHECK(module_of(EventKind::user_annotation, "layer1.0.conv2") == "layer1/0/conv2");
  CHECK(module_of(EventKind::user_annotation, "DistributedDataParallel.forward") ==
        "DistributedDataParallel");
  CHECK(module_of(EventKind::user_annotation, "<class 'a.b.Tower'>") == "Tower");
  CHECK(module_of(EventKind::user_annotation, "FSDP::all_gather (layers.3)") == "layers/3");
  for (const std::string_view name : {"## forward ##", "Optimizer.step#SGD.step", "ProfilerStep#1",
                                      "2.5", "a..b", "interaction arch cat", ""}) {
    CHECK_MESSAGE(module_of(EventKind::user_annotation, name).empty(), name);
  }
  CHECK(module_of(EventKind::cpu_op, "aten::add.Tensor") == "");
}

TEST_CASE("names: collective kernels of both vendors are recognized") {
  CHECK(is_collective_kernel("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"));
  CHECK(is_collective_kernel("ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)"));
  CHECK(is_collective_kernel("void ncclDevKernel_SendRecv(x)"));
  CHECK_FALSE(is_collective_kernel("void gemm<nccl_like>()"));
}
