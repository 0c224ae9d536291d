// Which calls of a program are recorded.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include <cupti.h>

namespace foretrace::trace::collector {

// Calls of the driver that start or await work: libraries make them without the runtime.
inline constexpr std::array driver_calls = {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
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
                                            CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync,
                                            CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync_ptsz,
                                            CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2,
                                            CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2_ptsz,
                                            CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DAsync_v2,
                                            CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DAsync_v2_ptsz,
                                            CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async,
                                            CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async_ptsz,
                                            CUPTI_DRIVER_TRACE_CBID_cuMemsetD16Async,
                                            CUPTI_DRIVER_TRACE_CBID_cuMemsetD16Async_ptsz,
                                            CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async_ptsz,
                                            CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2,
                                            CUPTI_DRIVER_TRACE_CBID_cuMemsetD32_v2,
                                            CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2,
                                            CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2,
                                            CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize,
                                            CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent,
                                            CUPTI_DRIVER_TRACE_CBID_cuEventRecord,
                                            CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz,
                                            CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent_ptsz,
                                            CUPTI_DRIVER_TRACE_CBID_cuEventRecord_ptsz,
                                            CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags,
                                            CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags_ptsz,
                                            CUPTI_DRIVER_TRACE_CBID_cuEventDestroy_v2,
                                            CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize,
                                            CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize};

// Calls of the runtime that neither start nor await work. A framework asks for its device a dozen
// times per kernel: without them a step of PyTorch has a sixth of the records (seen on an H100).
inline constexpr std::array queries = {
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

/// Of the runtime.
[[nodiscard]] constexpr bool is_query(CUpti_CallbackId call) {
  return std::any_of(queries.begin(), queries.end(),
                     [call](auto known) { return static_cast<CUpti_CallbackId>(known) == call; });
}

}  // namespace foretrace::trace::collector
