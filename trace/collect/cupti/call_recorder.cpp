#include "trace/collect/cupti/call_recorder.h"

#include <unistd.h>

#include "trace/collect/cupti/calls.h"

namespace foretrace::trace::collector {
namespace {

// The call that this thread is in. A call of the driver inside one of the runtime is part of it.
struct OpenCall {
  std::uint64_t start = 0;
  std::uint32_t correlation = 0;
  std::uint32_t period = 0;  // 0: none is open
  bool is_driver = false;
};
constinit thread_local OpenCall open_call;

std::uint32_t this_thread() {
  constinit thread_local std::uint32_t number = 0;
  if (number == 0) {
    number = static_cast<std::uint32_t>(::gettid());
  }
  return number;
}

template <typename Parameters>
CallEffect record_of(const void* parameters, bool is_per_thread = false) {
  const auto& p = *static_cast<const Parameters*>(parameters);
  CallEffect effect;
  effect.kind = CallEffect::Kind::record;
  effect.has_stream = true;
  effect.is_per_thread = is_per_thread;
  if constexpr (requires { p.hEvent; }) {
    effect.event = p.hEvent;
    effect.stream = p.hStream;
  } else {
    effect.event = p.event;
    effect.stream = p.stream;
  }
  return effect;
}

template <typename Parameters>
CallEffect wait_of_stream(const void* parameters, bool is_per_thread = false) {
  CallEffect effect = record_of<Parameters>(parameters, is_per_thread);
  effect.kind = CallEffect::Kind::wait;
  effect.wait = WaitKind::stream_wait_event;
  return effect;
}

template <typename Parameters>
CallEffect wait_for_stream(const void* parameters, bool is_per_thread = false) {
  const auto& p = *static_cast<const Parameters*>(parameters);
  CallEffect effect;
  effect.kind = CallEffect::Kind::wait;
  effect.wait = WaitKind::stream_synchronize;
  effect.has_stream = true;
  effect.is_per_thread = is_per_thread;
  if constexpr (requires { p.hStream; }) {
    effect.stream = p.hStream;
  } else {
    effect.stream = p.stream;
  }
  return effect;
}

template <typename Parameters>
CallEffect of_event(CallEffect::Kind kind, const void* parameters) {
  const auto& p = *static_cast<const Parameters*>(parameters);
  CallEffect effect;
  effect.kind = kind;
  effect.wait = kind == CallEffect::Kind::wait ? WaitKind::event_synchronize : WaitKind::unknown;
  if constexpr (requires { p.hEvent; }) {
    effect.event = p.hEvent;
  } else {
    effect.event = p.event;
  }
  return effect;
}

CallEffect wait_for_context() {
  CallEffect effect;
  effect.kind = CallEffect::Kind::wait;
  effect.wait = WaitKind::context_synchronize;
  return effect;
}

CallEffect effect_of_runtime(CUpti_CallbackId call, const void* p) {
  using enum CallEffect::Kind;
  switch (call) {
    case CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020:
      return record_of<cudaEventRecord_v3020_params>(p);
    case CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_ptsz_v7000:
      return record_of<cudaEventRecord_ptsz_v7000_params>(p, true);
    case CUPTI_RUNTIME_TRACE_CBID_cudaEventRecordWithFlags_v11010:
      return record_of<cudaEventRecordWithFlags_v11010_params>(p);
    case CUPTI_RUNTIME_TRACE_CBID_cudaEventRecordWithFlags_ptsz_v11010:
      return record_of<cudaEventRecordWithFlags_ptsz_v11010_params>(p, true);
    case CUPTI_RUNTIME_TRACE_CBID_cudaStreamWaitEvent_v3020:
      return wait_of_stream<cudaStreamWaitEvent_v3020_params>(p);
    case CUPTI_RUNTIME_TRACE_CBID_cudaStreamWaitEvent_ptsz_v7000:
      return wait_of_stream<cudaStreamWaitEvent_ptsz_v7000_params>(p, true);
    case CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020:
      return wait_for_stream<cudaStreamSynchronize_v3020_params>(p);
    case CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_ptsz_v7000:
      return wait_for_stream<cudaStreamSynchronize_ptsz_v7000_params>(p, true);
    case CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020:
      return of_event<cudaEventSynchronize_v3020_params>(wait, p);
    case CUPTI_RUNTIME_TRACE_CBID_cudaEventDestroy_v3020:
      return of_event<cudaEventDestroy_v3020_params>(destroy, p);
    case CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020: return wait_for_context();
    default: return {};
  }
}

CallEffect effect_of_driver(CUpti_CallbackId call, const void* p) {
  using enum CallEffect::Kind;
  switch (call) {
    case CUPTI_DRIVER_TRACE_CBID_cuEventRecord: return record_of<cuEventRecord_params>(p);
    case CUPTI_DRIVER_TRACE_CBID_cuEventRecord_ptsz:
      return record_of<cuEventRecord_ptsz_params>(p, true);
    case CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags:
      return record_of<cuEventRecordWithFlags_params>(p);
    case CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags_ptsz:
      return record_of<cuEventRecordWithFlags_ptsz_params>(p, true);
    case CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent:
      return wait_of_stream<cuStreamWaitEvent_params>(p);
    case CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent_ptsz:
      return wait_of_stream<cuStreamWaitEvent_ptsz_params>(p, true);
    case CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize:
      return wait_for_stream<cuStreamSynchronize_params>(p);
    case CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz:
      return wait_for_stream<cuStreamSynchronize_ptsz_params>(p, true);
    case CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize:
      return of_event<cuEventSynchronize_params>(wait, p);
    case CUPTI_DRIVER_TRACE_CBID_cuEventDestroy_v2:
      return of_event<cuEventDestroy_v2_params>(destroy, p);
    case CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize: return wait_for_context();
    default: return {};
  }
}

}  // namespace

CallEffect effect_of(bool is_driver, CUpti_CallbackId call, const void* parameters) {
  return is_driver ? effect_of_driver(call, parameters) : effect_of_runtime(call, parameters);
}

void CallRecorder::switch_to(bool on, CUpti_SubscriberHandle subscriber) {
  ++period_;
  for (CUpti_CallbackId call = 1; call < CUPTI_RUNTIME_TRACE_CBID_SIZE; ++call) {
    if (!is_query(call)) {
      static_cast<void>(
          cupti_.enable_callback(on ? 1 : 0, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, call));
    }
  }
  for (const CUpti_CallbackId call : driver_calls) {
    static_cast<void>(
        cupti_.enable_callback(on ? 1 : 0, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, call));
  }
}

void CallRecorder::call_began(bool is_driver, CUpti_CallbackId call,
                              const CUpti_CallbackData& data) {
  const std::uint32_t period = period_.load(std::memory_order_relaxed);
  const bool is_inside = is_driver && open_call.period == period && !open_call.is_driver;
  if (is_inside) return;
  if (data.functionParams != nullptr) {
    const CallEffect effect = effect_of(is_driver, call, data.functionParams);
    if (effect.kind == CallEffect::Kind::destroy) {
      const std::lock_guard<std::mutex> lock(events_mutex_);
      events_.erase(effect.event);
    }
  }
  open_call = {0, data.correlationId, period, is_driver};
  static_cast<void>(cupti_.timestamp(&open_call.start));
}

void CallRecorder::call_ended(bool is_driver, CUpti_CallbackId call,
                              const CUpti_CallbackData& data) {
  if (open_call.period != period_.load(std::memory_order_relaxed) ||
      open_call.is_driver != is_driver || open_call.correlation != data.correlationId) {
    return;
  }
  std::uint64_t now = 0;
  static_cast<void>(cupti_.timestamp(&now));
  open_call.period = 0;
  ApiRecord record;
  record.start = static_cast<std::int64_t>(open_call.start);
  record.end = static_cast<std::int64_t>(now);
  record.name = name_of(is_driver, call);
  record.process = process_;
  record.thread = this_thread();
  record.correlation = data.correlationId;
  record.call_id = call;
  // Both return an enumeration of int's size that is 0 where all is well.
  record.result = data.functionReturnValue == nullptr
                      ? 0
                      : *static_cast<const std::uint32_t*>(data.functionReturnValue);
  record.is_driver = is_driver;
  writer_.add(record);
  if (record.result == 0 && data.functionParams != nullptr) {
    add_effect(effect_of(is_driver, call, data.functionParams), record, data);
  }
}

TextNumber CallRecorder::name_of(bool is_driver, CUpti_CallbackId call) {
  const std::size_t place = std::size_t{call} * 2 + (is_driver ? 1 : 0);
  if (place < names_.size()) {
    if (const TextNumber known = names_[place].load(std::memory_order_relaxed); known != 0) {
      return known;
    }
  }
  const char* name = nullptr;
  const auto domain = is_driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API;
  const bool found = cupti_.callback_name(domain, call, &name) == CUPTI_SUCCESS && name != nullptr;
  const TextNumber number = writer_.text(found ? name : "unknown call");
  if (place < names_.size()) {
    names_[place].store(number, std::memory_order_relaxed);
  }
  return number;
}

std::uint32_t CallRecorder::stream_of(const CallEffect& effect,
                                      const CUpti_CallbackData& data) const {
  // Handles that stand for the default streams, of all threads and of this one (cudaStreamLegacy,
  // cudaStreamPerThread).
  const bool is_own = effect.stream == CU_STREAM_PER_THREAD;
  const bool is_default = is_own || effect.stream == CU_STREAM_LEGACY;
  const bool per_thread = is_own || (effect.is_per_thread && effect.stream == nullptr);
  std::uint32_t stream = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  static_cast<void>(cupti_.stream_id(data.context, is_default ? nullptr : effect.stream,
                                     per_thread ? 1 : 0, &stream));
  return stream;
}

void CallRecorder::add_effect(const CallEffect& effect, const ApiRecord& call,
                              const CUpti_CallbackData& data) {
  using enum CallEffect::Kind;
  if (effect.kind == none || effect.kind == destroy) return;
  const std::uint32_t stream =
      effect.has_stream ? stream_of(effect, data) : CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  Event event;
  if (effect.event != nullptr) {
    const std::lock_guard<std::mutex> lock(events_mutex_);
    Event& known = events_[effect.event];
    known.id = known.id == 0 ? next_event_++ : known.id;
    known.record = effect.kind == record ? next_record_++ : known.record;
    event = known;
  }
  if (effect.kind == record) {
    writer_.add(EventRecord{call.correlation, data.contextUid, stream, event.id, event.record});
    return;
  }
  SynchronizationRecord done;
  done.start = call.start;
  done.end = call.end;
  done.kind = effect.wait;
  done.context = data.contextUid;
  done.stream = stream == CUPTI_SYNCHRONIZATION_INVALID_VALUE ? -1 : std::int64_t{stream};
  done.event = effect.event == nullptr ? -1 : std::int64_t{event.id};
  done.event_record = event.record;
  done.correlation = call.correlation;
  writer_.add(done);
}

}  // namespace foretrace::trace::collector
