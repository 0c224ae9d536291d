// Calls as CUPTI's callbacks tell of them, through recorder, file and reader. No device is needed.
#ifdef FORETRACE_HAS_CUPTI
#include "trace/collect/cupti/call_recorder.h"

#include <set>
#include <string>
#include <thread>
#include <utility>

#include <doctest/doctest.h>

#include "tests/trace/collect/record_helpers.h"
#include "tests/trace/formats/read_helpers.h"

namespace foretrace::trace::collector {
namespace {

using Call = std::pair<CUpti_CallbackDomain, CUpti_CallbackId>;

std::uint64_t clock_now = 1000;
std::set<Call> told;

CUptiResult timestamp(std::uint64_t* time) {
  *time = clock_now;
  return CUPTI_SUCCESS;
}
CUptiResult enable_callback(std::uint32_t enable, CUpti_SubscriberHandle /*by*/,
                            CUpti_CallbackDomain domain, CUpti_CallbackId call) {
  if (enable != 0) {
    told.emplace(domain, call);
  } else {
    told.erase({domain, call});
  }
  return CUPTI_SUCCESS;
}
CUptiResult callback_name(CUpti_CallbackDomain domain, std::uint32_t call, const char** name) {
  if (call == 1) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  *name = domain == CUPTI_CB_DOMAIN_DRIVER_API ? "cuCall" : "cudaCall_v3020";
  return CUPTI_SUCCESS;
}
// The default stream is 7, that of a thread 8, others have the number of their handle.
CUptiResult stream_id(CUcontext /*context*/, CUstream stream, std::uint8_t per_thread,
                      std::uint32_t* id) {
  *id = stream != nullptr ? static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(stream))
                          : (per_thread != 0 ? 8 : 7);
  return CUPTI_SUCCESS;
}

CuptiFunctions functions() {
  CuptiFunctions f;
  f.timestamp = timestamp;
  f.enable_callback = enable_callback;
  f.callback_name = callback_name;
  f.stream_id = stream_id;
  return f;
}

template <typename Handle>
Handle handle(std::uintptr_t number) {
  return reinterpret_cast<Handle>(number);  // NOLINT(performance-no-int-to-ptr): no address
}

/// What one call after the other becomes.
class Calls {
 public:
  Calls() { recorder_.switch_to(true, nullptr); }

  /// One call of 10 ns, with what happens inside it.
  template <typename Inside>
  void around(bool is_driver, CUpti_CallbackId id, const void* parameters, Inside inside,
              std::uint32_t result = 0) {
    CUpti_CallbackData data{};
    data.correlationId = ++correlation_;
    data.contextUid = 4;
    data.functionParams = parameters;
    data.functionReturnValue = &result;
    data.callbackSite = CUPTI_API_ENTER;
    recorder_.call_began(is_driver, id, data);
    clock_now += 5;
    inside();
    clock_now += 5;
    data.callbackSite = CUPTI_API_EXIT;
    recorder_.call_ended(is_driver, id, data);
  }
  void call(bool is_driver, CUpti_CallbackId id, const void* parameters = nullptr,
            std::uint32_t result = 0) {
    around(
        is_driver, id, parameters, [] {}, result);
  }
  void add(const ContextRecord& context) { writer_.add(context); }
  CallRecorder& recorder() { return recorder_; }
  [[nodiscard]] std::uint32_t correlation() const { return correlation_; }

  EventTable table() {
    REQUIRE(writer_.finish());
    return read_bytes("ftr", file_).events;
  }

 private:
  std::string file_;
  RecordWriter writer_{sink_to(file_), {}};
  CuptiFunctions functions_ = functions();
  CallRecorder recorder_{functions_, writer_, 5};
  std::uint32_t correlation_ = 69;
};

constexpr bool runtime = false;
constexpr bool driver = true;

TEST_CASE("cupti calls: all of the runtime but queries are told, and what the driver starts") {
  const Calls calls;
  CHECK(told.contains(
      {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000}));
  CHECK(told.contains({CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaFree_v3020}));
  CHECK_FALSE(
      told.contains({CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020}));
  CHECK(told.contains({CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx}));
  CHECK_FALSE(told.contains({CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent}));
}

TEST_CASE("cupti calls: a call of the driver inside one of the runtime is part of it") {
  Calls calls;
  calls.around(runtime, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, nullptr,
               [&] { calls.call(driver, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel); });
  calls.call(driver, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
  calls.call(runtime, 1);
  const EventTable table = calls.table();
  REQUIRE(table.size() == 3);
  CHECK(table.name_of(EventId{0}) == "cudaCall");
  CHECK(table.correlation[0] == 70);
  CHECK(table.duration_ns[0] == 20);
  CHECK(track_of(table, EventId{0}).process == 5);
  CHECK(table.name_of(EventId{1}) == "cuCall");
  CHECK(table.correlation[1] == 72);
  CHECK(table.duration_ns[1] == 10);
  CHECK(table.name_of(EventId{2}) == "unknown call");
}

TEST_CASE("cupti calls: calls that run while recording is switched are left out") {
  Calls calls;
  calls.around(runtime, 211, nullptr, [&] { calls.recorder().switch_to(false, nullptr); });
  CHECK(told.empty());
  calls.around(runtime, 211, nullptr, [&] { calls.recorder().switch_to(true, nullptr); });
  // The runtime's call that never ended does not hide what the driver is asked for later.
  calls.call(driver, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
  CHECK(calls.table().size() == 1);
}

TEST_CASE("cupti calls: waits name the recording that they wait for, on streams of all kinds") {
  Calls calls;
  calls.add(ContextRecord{4, 1, 7});
  auto* const event = handle<cudaEvent_t>(0x1000);
  const cudaEventRecordWithFlags_v11010_params first{event, handle<cudaStream_t>(20), 0};
  calls.call(runtime, CUPTI_RUNTIME_TRACE_CBID_cudaEventRecordWithFlags_v11010, &first);
  const cudaStreamWaitEvent_v3020_params wait{handle<cudaStream_t>(30), event, 0};
  calls.call(runtime, CUPTI_RUNTIME_TRACE_CBID_cudaStreamWaitEvent_v3020, &wait);
  // The driver knows the event by the same handle; it is recorded anew, on the thread's stream.
  const cuEventRecord_ptsz_params again{event, nullptr};
  calls.call(driver, CUPTI_DRIVER_TRACE_CBID_cuEventRecord_ptsz, &again);
  const std::uint32_t recorded_again = calls.correlation();
  const cuEventSynchronize_params host{event};
  calls.call(driver, CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize, &host);
  const cudaStreamSynchronize_v3020_params stream{cudaStreamLegacy};
  calls.call(runtime, CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020, &stream);
  calls.call(runtime, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020, &stream);
  // A wait that failed waits for nothing.
  calls.call(runtime, CUPTI_RUNTIME_TRACE_CBID_cudaStreamWaitEvent_v3020, &wait, 400);
  const EventTable table = calls.table();
  CHECK(table.size() == 7);
  REQUIRE(table.syncs.size() == 4);
  CHECK(table.syncs[0].kind == SyncKind::stream_wait);
  CHECK(table.syncs[0].device == 1);
  CHECK(table.syncs[0].stream == 30);
  CHECK(table.syncs[0].wait_on_stream == 20);
  CHECK(table.syncs[0].record_correlation == 70);
  CHECK(table.syncs[1].kind == SyncKind::event_sync);
  CHECK(table.syncs[1].wait_on_stream == 8);
  CHECK(table.syncs[1].record_correlation == recorded_again);
  CHECK(table.syncs[2].kind == SyncKind::stream_sync);
  CHECK(table.syncs[2].stream == 7);
  CHECK(table.syncs[3].kind == SyncKind::context_sync);
  CHECK(table.syncs[3].stream == -1);
  CHECK(table.syncs[3].record_correlation == -1);
}

TEST_CASE("cupti calls: an event at the address of a destroyed one is another event") {
  Calls calls;
  auto* const event = handle<cudaEvent_t>(0x1000);
  const cudaEventRecord_v3020_params record{event, handle<cudaStream_t>(20)};
  const cudaEventDestroy_v3020_params destroy{event};
  const cudaStreamWaitEvent_v3020_params wait{handle<cudaStream_t>(30), event, 0};
  calls.call(runtime, CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020, &record);
  calls.call(runtime, CUPTI_RUNTIME_TRACE_CBID_cudaEventDestroy_v3020, &destroy);
  calls.call(runtime, CUPTI_RUNTIME_TRACE_CBID_cudaStreamWaitEvent_v3020, &wait);
  const EventTable table = calls.table();
  REQUIRE(table.syncs.size() == 1);
  CHECK(table.syncs[0].record_correlation == -1);
}

TEST_CASE("cupti calls: an event made anew while its handle is being destroyed keeps its wait") {
  Calls calls;
  auto* const event = handle<cudaEvent_t>(0x1000);
  const cudaEventRecord_v3020_params record{event, handle<cudaStream_t>(20)};
  const cudaEventDestroy_v3020_params destroy{event};
  const cudaStreamWaitEvent_v3020_params wait{handle<cudaStream_t>(30), event, 0};
  calls.call(runtime, CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020, &record);
  std::uint32_t anew = 0;
  calls.around(runtime, CUPTI_RUNTIME_TRACE_CBID_cudaEventDestroy_v3020, &destroy, [&] {
    // The handle is free before the call returns: another thread gets it and records it.
    std::thread other([&] {
      calls.call(runtime, CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020, &record);
      anew = calls.correlation();
    });
    other.join();
  });
  calls.call(runtime, CUPTI_RUNTIME_TRACE_CBID_cudaStreamWaitEvent_v3020, &wait);
  const EventTable table = calls.table();
  REQUIRE(table.syncs.size() == 1);
  CHECK(table.syncs[0].record_correlation == anew);
}

TEST_CASE("cupti calls: threads at once, each with its own calls") {
  std::string file;
  RecordWriter writer{sink_to(file), {}};
  const CuptiFunctions f = functions();
  CallRecorder recorder{f, writer, 5};
  const auto work = [&recorder](std::uint32_t first) {
    for (std::uint32_t i = 0; i < 1000; ++i) {
      auto* const event = handle<cudaEvent_t>(0x1000 + i % 7);
      const cudaEventRecord_v3020_params parameters{event, nullptr};
      CUpti_CallbackData data{};
      data.correlationId = first + i;
      data.functionParams = &parameters;
      recorder.call_began(runtime, CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020, data);
      recorder.call_ended(runtime, CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020, data);
    }
  };
  std::thread other(work, 5000);
  work(1);
  other.join();
  REQUIRE(writer.finish());
  const EventTable table = read_bytes("ftr", file).events;
  CHECK(table.size() == 2000);
  CHECK(table.tracks.size() == 2);
}

}  // namespace
}  // namespace foretrace::trace::collector
#endif
