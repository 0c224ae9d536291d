// Calls of the runtime and the driver, events and waits, as CUPTI's callbacks tell of them.
//
// Not as activities: to record calls as activities, and events and waits still more, CUPTI looks
// into every call of a program. Asking for the device costs 45 ns alone, 180 ns where calls are
// recorded as activities and 470 ns where events are too; with callbacks it stays at 45 ns
// (measured on an H100 with CUPTI 13.0). A framework asks a dozen times per kernel.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include <cupti.h>

#include "trace/collect/cupti/library.h"
#include "trace/collect/record_writer.h"

namespace foretrace::trace::collector {

/// Something to wait for, recorded on a stream, or a wait: what a call does besides taking time.
struct CallEffect {
  enum class Kind : std::uint8_t { none, record, wait, destroy };
  Kind kind = Kind::none;
  WaitKind wait = WaitKind::unknown;
  const void* event = nullptr;
  CUstream stream = nullptr;
  bool has_stream = false;
  bool is_per_thread = false;  ///< the default stream is the thread's own
};

/// Of a call of the runtime or the driver, with the parameters that CUPTI hands over.
[[nodiscard]] CallEffect effect_of(bool is_driver, CUpti_CallbackId call, const void* parameters);

/// Hands each call to a writer. Any thread, any number at a time.
class CallRecorder {
 public:
  CallRecorder(const CuptiFunctions& cupti, RecordWriter& writer, std::uint32_t process)
      : cupti_(cupti), writer_(writer), process_(process) {}

  /// Begins, or ends, to be told of calls. Calls that are running then are not recorded.
  void switch_to(bool on, CUpti_SubscriberHandle subscriber);
  /// What a call destroys is forgotten here: before it ends, another thread may have got the handle
  /// for an event of its own.
  void call_began(bool is_driver, CUpti_CallbackId call, const CUpti_CallbackData& data);
  /// Throws if there is no memory for an event.
  void call_ended(bool is_driver, CUpti_CallbackId call, const CUpti_CallbackData& data);

 private:
  struct Event {
    std::uint32_t id = 0;
    std::uint64_t record = 0;  ///< number of its newest recording; 0: none yet
  };

  TextNumber name_of(bool is_driver, CUpti_CallbackId call);
  void add_effect(const CallEffect& effect, const ApiRecord& call, const CUpti_CallbackData& data);
  std::uint32_t stream_of(const CallEffect& effect, const CUpti_CallbackData& data) const;

  static constexpr std::size_t most_calls =
      std::size_t{2} *
      (CUPTI_DRIVER_TRACE_CBID_SIZE > static_cast<int>(CUPTI_RUNTIME_TRACE_CBID_SIZE)
           ? static_cast<std::size_t>(CUPTI_DRIVER_TRACE_CBID_SIZE)
           : static_cast<std::size_t>(CUPTI_RUNTIME_TRACE_CBID_SIZE));

  const CuptiFunctions& cupti_;
  RecordWriter& writer_;
  std::uint32_t process_;
  std::atomic<std::uint32_t> period_{1};  ///< counts how often recording was switched
  std::array<std::atomic<TextNumber>, most_calls> names_{};
  std::mutex events_mutex_;
  std::unordered_map<const void*, Event> events_;  ///< by handle, until it is destroyed
  std::uint32_t next_event_ = 1;
  std::uint64_t next_record_ = 1;
};

}  // namespace foretrace::trace::collector
