// Which calls of a program are recorded.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include <cupti.h>

namespace foretrace::trace::collector {

// Calls of the driver that start or await work and that programs make without the runtime.
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
                                            CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize,
                                            CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent,
                                            CUPTI_DRIVER_TRACE_CBID_cuEventRecord,
                                            CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize,
                                            CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize};

// Calls of the runtime that neither start nor await work. A framework asks for its device ten times
// per kernel: without them a step of PyTorch has a sixth of the records (measured on an H100).
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

/// False for what CUPTI hands over although it was not asked for it.
[[nodiscard]] constexpr bool is_recorded(bool is_driver, std::uint32_t call) {
  const auto is_call = [call](auto known) { return static_cast<std::uint32_t>(known) == call; };
  return is_driver ? std::any_of(driver_calls.begin(), driver_calls.end(), is_call)
                   : std::none_of(queries.begin(), queries.end(), is_call);
}

}  // namespace foretrace::trace::collector
