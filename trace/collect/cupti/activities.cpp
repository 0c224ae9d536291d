#include "trace/collect/cupti/activities.h"

#include <array>

#include <generated_nvtx_meta.h>

namespace foretrace::trace::collector {
namespace {

constexpr std::array always = {CUPTI_ACTIVITY_KIND_RUNTIME,
                               CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                               CUPTI_ACTIVITY_KIND_MEMCPY,
                               CUPTI_ACTIVITY_KIND_MEMCPY2,
                               CUPTI_ACTIVITY_KIND_MEMSET,
                               CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                               CUPTI_ACTIVITY_KIND_CUDA_EVENT,
                               CUPTI_ACTIVITY_KIND_OVERHEAD,
                               CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION};
constexpr std::array descriptions = {CUPTI_ACTIVITY_KIND_DEVICE, CUPTI_ACTIVITY_KIND_CONTEXT,
                                     CUPTI_ACTIVITY_KIND_STREAM, CUPTI_ACTIVITY_KIND_NAME};

// Calls of the driver that start or await work and that programs make without the runtime.
constexpr std::array driver_calls = {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
                                     CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
                                     CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
                                     CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
                                     CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
                                     CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
                                     CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
                                     CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
                                     CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync,
                                     CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync_ptsz,
                                     CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2,
                                     CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2,
                                     CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2,
                                     CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2,
                                     CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2,
                                     CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async,
                                     CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize,
                                     CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent,
                                     CUPTI_DRIVER_TRACE_CBID_cuEventRecord,
                                     CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize,
                                     CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize};

// Calls of the runtime that neither start nor await work. A framework asks for its device ten times
// per kernel: without them a step of PyTorch has a sixth of the records (measured on an H100).
constexpr std::array queries = {
    CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaGetErrorString_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaGetErrorName_v6050,
    CUPTI_RUNTIME_TRACE_CBID_cudaDeviceGetAttribute_v5000,
    CUPTI_RUNTIME_TRACE_CBID_cudaGetDeviceCount_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaGetFuncBySymbol_v11000,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamIsCapturing_v10000,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamIsCapturing_ptsz_v10000,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamGetCaptureInfo_v2_v11030,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamGetCaptureInfo_v2_ptsz_v11030,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamGetCaptureInfo_v12030,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamGetCaptureInfo_ptsz_v12030,
    CUPTI_RUNTIME_TRACE_CBID_cudaThreadExchangeStreamCaptureMode_v10010,
    CUPTI_RUNTIME_TRACE_CBID_cudaPointerGetAttributes_v4000,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamGetPriority_v5050,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamGetPriority_ptsz_v7000,
    CUPTI_RUNTIME_TRACE_CBID_cudaOccupancyMaxActiveBlocksPerMultiprocessor_v6050,
    CUPTI_RUNTIME_TRACE_CBID_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v7000};

const char* ascii_of(const nvtxEventAttributes_t* attributes) {
  return attributes != nullptr && attributes->messageType == NVTX_MESSAGE_TYPE_ASCII
             ? attributes->message.ascii
             : nullptr;
}

}  // namespace

void switch_activities(const CuptiFunctions& cupti, const Settings& settings, bool on) {
  const auto change = [&](CUpti_ActivityKind kind) {
    static_cast<void>(on ? cupti.enable(kind) : cupti.disable(kind));
  };
  for (const CUpti_ActivityKind kind : always) {
    change(kind);
  }
  if (on && cupti.enable_runtime_call != nullptr) {
    for (const CUpti_CallbackId call : queries) {
      static_cast<void>(cupti.enable_runtime_call(call, 0));
    }
  }
  for (const CUpti_CallbackId call : driver_calls) {
    static_cast<void>(cupti.enable_driver_call(call, on ? 1 : 0));
  }
  if (settings.memory) {
    change(CUPTI_ACTIVITY_KIND_MEMORY2);
  }
  if (settings.ranges) {
    change(CUPTI_ACTIVITY_KIND_MARKER);
  }
}

void ask_for_descriptions(const CuptiFunctions& cupti) {
  for (const CUpti_ActivityKind kind : descriptions) {
    static_cast<void>(cupti.enable(kind));
  }
}

const char* range_of(CUpti_CallbackId call, const void* parameters) {
  switch (call) {
    case CUPTI_CBID_NVTX_nvtxRangePushA:
      return static_cast<const nvtxRangePushA_params*>(parameters)->message;
    case CUPTI_CBID_NVTX_nvtxRangeStartA:
      return static_cast<const nvtxRangeStartA_params*>(parameters)->message;
    case CUPTI_CBID_NVTX_nvtxRangePushEx:
      return ascii_of(static_cast<const nvtxRangePushEx_params*>(parameters)->eventAttrib);
    case CUPTI_CBID_NVTX_nvtxRangeStartEx:
      return ascii_of(static_cast<const nvtxRangeStartEx_params*>(parameters)->eventAttrib);
    case CUPTI_CBID_NVTX_nvtxDomainRangePushEx:
      return ascii_of(
          static_cast<const nvtxDomainRangePushEx_params*>(parameters)->core.eventAttrib);
    case CUPTI_CBID_NVTX_nvtxDomainRangeStartEx:
      return ascii_of(
          static_cast<const nvtxDomainRangeStartEx_params*>(parameters)->core.eventAttrib);
    default: return nullptr;
  }
}

}  // namespace foretrace::trace::collector
