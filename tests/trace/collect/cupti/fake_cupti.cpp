// Stands in for CUPTI, so that the collector's library can be run without a device: hands out one
// buffer of activities, made by hand, when it is asked to flush. FAKE_CUPTI says how it behaves:
// "owned" (another tool has subscribed), "old" (an earlier version), "drops" (records were lost),
// "late" (fails after the subscription).
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>

#include <cupti.h>
#include <generated_nvtx_meta.h>
#include <unistd.h>

namespace {

CUpti_BuffersCallbackRequestFunc request = nullptr;
CUpti_BuffersCallbackCompleteFunc complete = nullptr;
CUpti_CallbackFunc listener = nullptr;
void* listener_data = nullptr;
bool kernels_enabled = false;
bool markers_enabled = false;
std::array<std::array<bool, 1024>, CUPTI_CB_DOMAIN_SIZE> calls_enabled{};  // by domain and call
std::uint32_t next_correlation = 1;
std::uint64_t steps_begun = 0;

std::string_view behaviour() {
  const char* const value = std::getenv("FAKE_CUPTI");  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "" : value;
}

std::uint64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

/// Activities one behind the other, as CUPTI lays them out.
struct Buffer {
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  std::size_t used = 0;

  template <typename Activity>
  void put(const Activity& activity) {
    if (used + sizeof activity <= size) {
      std::memcpy(bytes + used, &activity, sizeof activity);
      used += sizeof activity;
    }
  }
};

Buffer waiting;

template <typename Activity>
Activity blank(CUpti_ActivityKind kind) {
  Activity activity;
  std::memset(&activity, 0, sizeof activity);
  activity.kind = kind;
  return activity;
}

bool has_buffer() {
  if (waiting.bytes == nullptr && request != nullptr) {
    std::size_t records = 0;
    request(&waiting.bytes, &waiting.size, &records);
    waiting.used = 0;
  }
  return waiting.bytes != nullptr;
}

std::size_t size_of(const CUpti_Activity& activity) {
  switch (activity.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_MARKER: return sizeof(CUpti_ActivityMarker2);
    default: return 0;
  }
}

/// A call of the program, and what happens inside it.
template <typename Inside>
void call(CUpti_CallbackDomain domain, CUpti_CallbackId id, Inside inside) {
  const bool is_told = listener != nullptr && calls_enabled[domain][id];
  const std::uint32_t success = 0;
  CUpti_CallbackData data{};
  data.correlationId = next_correlation;
  data.functionReturnValue = const_cast<std::uint32_t*>(&success);
  data.callbackSite = CUPTI_API_ENTER;
  if (is_told) {
    listener(listener_data, domain, id, &data);
  }
  inside();
  data.callbackSite = CUPTI_API_EXIT;
  if (is_told) {
    listener(listener_data, domain, id, &data);
  }
}

}  // namespace

#define FAKE extern "C" __attribute__((visibility("default")))

/// The program launches a kernel.
FAKE void fake_launch() {
  if (!kernels_enabled || !has_buffer()) {
    return;
  }
  // Frameworks ask for the device before each launch; the runtime launches through the driver.
  call(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020, [] {});
  call(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
       [] { call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, [] {}); });
  auto kernel = blank<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  kernel.start = now();
  kernel.end = kernel.start + 1000;
  kernel.streamId = 7;
  kernel.correlationId = next_correlation++;
  kernel.gridX = kernel.gridY = kernel.gridZ = 1;
  kernel.blockX = kernel.blockY = kernel.blockZ = 1;
  kernel.name = "_Z3addPfS_";
  waiting.put(kernel);
}

/// The program begins a range.
FAKE void fake_push(const char* name) {
  if (markers_enabled && has_buffer()) {
    auto marker = blank<CUpti_ActivityMarker2>(CUPTI_ACTIVITY_KIND_MARKER);
    marker.flags = CUPTI_ACTIVITY_FLAG_MARKER_START;
    marker.timestamp = now();
    marker.id = static_cast<std::uint32_t>(++steps_begun);
    marker.name = name;
    waiting.put(marker);
  }
  if (listener != nullptr) {
    nvtxRangePushA_params parameters{name};
    CUpti_NvtxData data{};
    data.functionParams = &parameters;
    listener(listener_data, CUPTI_CB_DOMAIN_NVTX, CUPTI_CBID_NVTX_nvtxRangePushA, &data);
  }
}

// Names and parameters from here on are CUPTI's own.
// NOLINTBEGIN(readability-identifier-naming, readability-named-parameter)

/// Another tool's library that goes into the program.
FAKE int InitializeInjection() {
  static_cast<void>(::write(STDOUT_FILENO, "first\n", 6));
  return 1;
}

FAKE CUptiResult cuptiGetVersion(std::uint32_t* version) {
  *version = behaviour() == "old" ? CUPTI_API_VERSION - 10000 : CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiGetResultString(CUptiResult, const char** str) {
  *str = "CUPTI_ERROR_FAKE";
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiSubscribe(CUpti_SubscriberHandle*, CUpti_CallbackFunc callback,
                                void* userdata) {
  if (behaviour() == "owned") {
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  }
  if (behaviour() == "broken") {
    return CUPTI_ERROR_UNKNOWN;
  }
  listener = callback;
  listener_data = userdata;
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) {
  listener = nullptr;
  return CUPTI_SUCCESS;
}
/// What is left of a collector that could not start.
FAKE int fake_is_in_use() {
  return listener != nullptr || kernels_enabled || markers_enabled ? 1 : 0;
}
FAKE CUptiResult cuptiEnableDomain(std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain) {
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle,
                                     CUpti_CallbackDomain domain, CUpti_CallbackId cbid) {
  calls_enabled[domain][cbid] = enable != 0;
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiGetStreamIdEx(CUcontext, CUstream, std::uint8_t, std::uint32_t* stream) {
  *stream = 7;
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain, std::uint32_t, const char** name) {
  *name = "cudaLaunchKernel_v7000";
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiGetTimestamp(std::uint64_t* time) {
  *time = now();
  return CUPTI_SUCCESS;
}
FAKE CUptiResult
cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc funcBufferRequested,
                               CUpti_BuffersCallbackCompleteFunc funcBufferCompleted) {
  if (behaviour() == "late") {
    return CUPTI_ERROR_UNKNOWN;
  }
  request = funcBufferRequested;
  complete = funcBufferCompleted;
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  kernels_enabled = kernels_enabled || kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  markers_enabled = markers_enabled || kind == CUPTI_ACTIVITY_KIND_MARKER;
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  kernels_enabled = kernels_enabled && kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  markers_enabled = markers_enabled && kind != CUPTI_ACTIVITY_KIND_MARKER;
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid,
                                            CUpti_Activity** record) {
  std::uint8_t* const next =
      *record == nullptr ? buffer : reinterpret_cast<std::uint8_t*>(*record) + size_of(**record);
  if (next >= buffer + valid) {
    return CUPTI_ERROR_MAX_LIMIT_REACHED;
  }
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped) {
  *dropped = behaviour() == "drops" ? 42 : 0;
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiActivityFlushAll(std::uint32_t) {
  if (waiting.bytes != nullptr) {
    const Buffer full = waiting;
    waiting = {};
    complete(nullptr, 0, full.bytes, full.size, full.used);
  }
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiActivityFlushPeriod(std::uint32_t) { return CUPTI_SUCCESS; }
FAKE CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType) { return CUPTI_SUCCESS; }

// NOLINTEND(readability-identifier-naming, readability-named-parameter)
