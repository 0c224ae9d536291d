#include "trace/formats/common/nsys_names.h"

#include <doctest/doctest.h>

namespace foretrace::trace::formats {
namespace {

TEST_CASE("nsys names: only a CUDA version is cut from a call") {
  CHECK(plain_api_name("cudaLaunchKernel_v7000") == "cudaLaunchKernel");
  CHECK(plain_api_name("cudaLaunchKernelExC_v11060") == "cudaLaunchKernelExC");
  CHECK(plain_api_name("cudaMemcpyAsync_ptsz_v7000") == "cudaMemcpyAsync");
  CHECK(plain_api_name("cuMemFree_v2") == "cuMemFree_v2");
  CHECK(plain_api_name("_v7000") == "_v7000");
  CHECK(plain_api_name("7000") == "7000");
  CHECK(plain_api_name("").empty());
}

TEST_CASE("nsys names: copies say direction and kinds of memory as far as they are known") {
  CHECK(copy_name(1, 0, 2) == "Memcpy HtoD (Pageable -> Device)");
  CHECK(copy_name(8, 2, 2) == "Memcpy DtoD (Device -> Device)");
  CHECK(copy_name(2, -1, -1) == "Memcpy DtoH");
  CHECK(copy_name(99, 99, 0) == "Memcpy (Unknown -> Pageable)");
  CHECK(copy_name(-5, -1, -1) == "Memcpy");
  CHECK(set_name(2) == "Memset (Device)");
  CHECK(set_name(-1) == "Memset");
}

TEST_CASE("nsys names: a call says what it waits for") {
  CHECK(sync_kind_of_call("cudaStreamSynchronize") == SyncKind::stream_sync);
  CHECK(sync_kind_of_call("cuCtxSynchronize") == SyncKind::context_sync);
  CHECK(sync_kind_of_call("cudaEventSynchronize") == SyncKind::event_sync);
  CHECK(sync_kind_of_call("cuStreamWaitEvent") == SyncKind::stream_wait);
  CHECK(sync_kind_of_call("cudaLaunchKernel") == SyncKind::unknown);
}

TEST_CASE("nsys names: ranges of emit_nvtx are taken apart, others are left whole") {
  const NvtxOperator full =
      parse_nvtx("aten::addmm, seq = 31, op_id = 7, sizes = [[8], [4, 8]], input_op_ids = [(1,0)]");
  CHECK(full.name == "aten::addmm");
  CHECK(full.number == 31);
  CHECK(full.sizes == "[[8], [4, 8]]");
  CHECK(full.is_operator);
  const NvtxOperator backward =
      parse_nvtx("autograd::engine::evaluate_function: AddmmBackward0, op_id = 9");
  CHECK(backward.is_operator);
  CHECK(backward.name == "autograd::engine::evaluate_function: AddmmBackward0");
  // Marked by a library for its users, not an operator.
  CHECK_FALSE(parse_nvtx("FSDP::pre_forward (encoder.block.9), op_id = 4").is_operator);
  CHECK(parse_nvtx("FSDP::pre_forward (encoder.block.9), op_id = 4").name ==
        "FSDP::pre_forward (encoder.block.9)");
  CHECK_FALSE(parse_nvtx("ProfilerStep#3, op_id = 4").is_operator);
  CHECK(parse_nvtx("epoch 3, lr = 0.1").name == "epoch 3, lr = 0.1");
  CHECK(parse_nvtx("").name.empty());
  CHECK(parse_nvtx(", seq = x").name.empty());
}

}  // namespace
}  // namespace foretrace::trace::formats
