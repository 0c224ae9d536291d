// The library that foretrace collect puts into a program: the driver calls InitializeInjection when
// the program first uses CUDA, NVTX calls InitializeInjectionNvtx2 at its first range. Nothing that
// goes wrong here may be noticed beyond one line on stderr.
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <mutex>

#include <cupti.h>
#include <generated_nvtx_meta.h>
#include <pthread.h>
#include <unistd.h>

#include "trace/collect/cupti/facts.h"
#include "trace/collect/cupti/library.h"
#include "trace/collect/cupti/translate.h"
#include "trace/collect/file_sink.h"
#include "trace/collect/record_writer.h"
#include "trace/collect/settings.h"
#include "trace/collect/step_report.h"

namespace foretrace::trace::collector {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{4} << 20U;
// 256 MB: what CUPTI holds while the translator is behind. Beyond it CUPTI drops, and counts.
constexpr int most_buffers = 64;
// A killed program loses what CUPTI has not handed over yet.
constexpr std::uint32_t flush_period_ms = 1000;
constexpr std::int64_t clock_period_ns = 1'000'000'000;

constexpr std::array always = {CUPTI_ACTIVITY_KIND_RUNTIME,
                               CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                               CUPTI_ACTIVITY_KIND_MEMCPY,
                               CUPTI_ACTIVITY_KIND_MEMCPY2,
                               CUPTI_ACTIVITY_KIND_MEMSET,
                               CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                               CUPTI_ACTIVITY_KIND_CUDA_EVENT,
                               CUPTI_ACTIVITY_KIND_OVERHEAD,
                               CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION};
// Said once, early; asked for also where recording starts with a later step.
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

void say(const std::string& problem) noexcept {
  const std::string line = "foretrace: collect: " + problem + "; the program runs unrecorded\n";
  static_cast<void>(::write(STDERR_FILENO, line.data(), line.size()));
}

/// Everything of one process. Made once and never destroyed: the program may use CUDA to its end.
struct Collector {
  Settings settings;
  CuptiFunctions cupti;
  std::unique_ptr<FileSink> file;
  std::unique_ptr<RecordWriter> writer;
  std::unique_ptr<Translator> translator;
  std::unique_ptr<StepWindow> window;
  std::mutex translating;
  std::atomic<int> buffers{0};
  std::atomic<bool> active{false};
  std::int64_t last_clock = 0;
  pid_t process = 0;
};

Collector* collector = nullptr;
std::once_flag load_once;
std::once_flag start_once;

std::int64_t nanoseconds(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void sample_clocks(Collector& c, bool always_now) {
  const std::int64_t monotonic = nanoseconds(CLOCK_MONOTONIC);
  if (!always_now && monotonic - c.last_clock < clock_period_ns) {
    return;
  }
  c.last_clock = monotonic;
  std::uint64_t now = 0;
  if (c.cupti.timestamp(&now) == CUPTI_SUCCESS) {
    c.writer->add(ClockRecord{static_cast<std::int64_t>(now), nanoseconds(CLOCK_REALTIME),
                              nanoseconds(CLOCK_MONOTONIC)});
  }
}

void CUPTIAPI on_buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
  *records = 0;
  const bool room = collector->buffers.fetch_add(1) < most_buffers;
  *buffer = room ? static_cast<std::uint8_t*>(std::aligned_alloc(8, buffer_bytes)) : nullptr;
  *size = *buffer == nullptr ? 0 : buffer_bytes;
  if (*buffer == nullptr) {
    --collector->buffers;
  }
}

void translate(Collector& c, std::uint8_t* buffer, std::size_t valid, CUcontext context,
               std::uint32_t stream) {
  const std::lock_guard<std::mutex> lock(c.translating);
  CUpti_Activity* record = nullptr;
  while (c.cupti.next_record(buffer, valid, &record) == CUPTI_SUCCESS) {
    c.translator->add(*record);
  }
  std::size_t dropped = 0;
  if (c.cupti.dropped_records(context, stream, &dropped) == CUPTI_SUCCESS && dropped > 0) {
    c.writer->add(DropRecord{static_cast<std::int64_t>(dropped), 0, DropPlace::recorder});
  }
  sample_clocks(c, false);
}

void CUPTIAPI on_buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                  std::size_t /*size*/, std::size_t valid) {
  if (buffer == nullptr) {
    return;
  }
  try {
    if (collector->active && valid > 0) {
      translate(*collector, buffer, valid, context, stream);
    }
  } catch (...) {  // out of memory: the buffer is lost, the program goes on
  }
  std::free(buffer);
  --collector->buffers;
}

void switch_recording(Collector& c, bool on) {
  const auto change = [&](CUpti_ActivityKind kind) {
    static_cast<void>(on ? c.cupti.enable(kind) : c.cupti.disable(kind));
  };
  for (const CUpti_ActivityKind kind : always) {
    change(kind);
  }
  for (const CUpti_CallbackId call : driver_calls) {
    static_cast<void>(c.cupti.enable_driver_call(call, on ? 1 : 0));
  }
  if (c.settings.memory) {
    change(CUPTI_ACTIVITY_KIND_MEMORY2);
  }
  if (c.settings.ranges) {
    change(CUPTI_ACTIVITY_KIND_MARKER);
  }
}

const char* ascii_of(const nvtxEventAttributes_t* attributes) {
  return attributes != nullptr && attributes->messageType == NVTX_MESSAGE_TYPE_ASCII
             ? attributes->message.ascii
             : nullptr;
}

/// The name of a range that begins; null for every other call of NVTX.
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

void CUPTIAPI on_call(void* /*user_data*/, CUpti_CallbackDomain domain, CUpti_CallbackId call,
                      const void* data) {
  if (domain != CUPTI_CB_DOMAIN_NVTX || !collector->window || !collector->active) {
    return;
  }
  const auto* const nvtx = static_cast<const CUpti_NvtxData*>(data);
  const char* const name = range_of(call, nvtx->functionParams);
  try {
    if (name == nullptr) {
      return;
    }
    switch (collector->window->range_began(name)) {
      case StepWindow::Change::start: switch_recording(*collector, true); return;
      case StepWindow::Change::stop: switch_recording(*collector, false); return;
      case StepWindow::Change::none: return;
    }
  } catch (...) {  // out of memory for the name
  }
}

const char* call_name(bool is_driver, std::uint32_t call) {
  const char* name = nullptr;
  const auto domain = is_driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API;
  return collector->cupti.callback_name(domain, call, &name) == CUPTI_SUCCESS ? name : nullptr;
}

Facts step_facts(const Collector& c) {
  if (!c.window) {
    return {};
  }
  const auto [seen, mark] = c.window->seen();
  return {{std::string(steps_seen_fact), std::to_string(seen)},
          {std::string(steps_by_fact), mark == StepWindow::Mark::updates ? "updates" : "steps"}};
}

void finish() {
  Collector& c = *collector;
  if (c.process != ::getpid() || !c.active) {
    return;
  }
  // Hands over what CUPTI still holds, on this thread.
  static_cast<void>(c.cupti.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
  if (c.active.exchange(false)) {
    const std::lock_guard<std::mutex> lock(c.translating);
    sample_clocks(c, true);
    static_cast<void>(c.writer->finish(step_facts(c)));
  }
}

// The writer's thread and CUPTI's stayed in the parent.
void in_forked_child() {
  collector->active = false;
  collector->writer->abandon();
}

std::string reason_of(const Collector& c, const char* what, CUptiResult result) {
  const char* text = nullptr;
  static_cast<void>(c.cupti.result_string(result, &text));
  return std::string(what) + " failed: " + (text == nullptr ? "unknown reason" : text);
}

Facts facts_of(const Collector& c, std::uint32_t cupti_version) {
  Facts facts = facts_of_process(cupti_version);
  if (c.settings.steps) {
    facts.emplace_back(steps_fact, std::to_string(c.settings.steps->first) + ":" +
                                       std::to_string(c.settings.steps->last));
  }
  return facts;
}

/// Empty, or why nothing is recorded.
std::string start(Collector& c) {
  CUpti_SubscriberHandle subscriber{};
  const CUptiResult subscribed = c.cupti.subscribe(&subscriber, on_call, nullptr);
  if (subscribed == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    return "another tool uses CUPTI in this process";
  }
  if (subscribed != CUPTI_SUCCESS) {
    return reason_of(c, "cuptiSubscribe", subscribed);
  }
  const std::string path = file_of_process(c.settings.file, ::getpid());
  c.file = std::make_unique<FileSink>(path);
  if (c.file->error() != 0) {
    return path + " cannot be written: " + std::strerror(c.file->error());  // NOLINT: one thread
  }
  std::uint32_t version = 0;
  static_cast<void>(c.cupti.get_version(&version));
  c.writer = std::make_unique<RecordWriter>(
      [file = c.file.get()](std::string_view bytes) { return file->write(bytes); },
      facts_of(c, version));
  c.translator = std::make_unique<Translator>(*c.writer, call_name);
  c.process = ::getpid();
  const CUptiResult registered =
      c.cupti.register_callbacks(on_buffer_requested, on_buffer_completed);
  if (registered != CUPTI_SUCCESS) {
    return reason_of(c, "cuptiActivityRegisterCallbacks", registered);
  }
  c.active = true;
  ::pthread_atfork(nullptr, nullptr, in_forked_child);
  std::atexit(finish);
  static_cast<void>(c.cupti.set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
  static_cast<void>(c.cupti.flush_period(flush_period_ms));
  sample_clocks(c, true);
  for (const CUpti_ActivityKind kind : descriptions) {
    static_cast<void>(c.cupti.enable(kind));
  }
  if (c.settings.steps) {
    c.window = std::make_unique<StepWindow>(*c.settings.steps);
    static_cast<void>(c.cupti.enable_domain(1, subscriber, CUPTI_CB_DOMAIN_NVTX));
  } else {
    switch_recording(c, true);
  }
  return {};
}

// Reads the settings and loads CUPTI; leaves `collector` null if there is nothing to do.
void load() {
  auto made = std::make_unique<Collector>();
  // NOLINTNEXTLINE(concurrency-mt-unsafe): read once, when the device is first used
  made->settings = settings_from([](const char* name) { return std::getenv(name); });
  if (made->settings.file.empty()) {
    return;
  }
  if (const std::string problem = load_cupti(made->cupti); !problem.empty()) {
    say(problem);
    return;
  }
  collector = made.release();
}

void start_recording() noexcept {
  try {
    std::call_once(load_once, load);
    std::call_once(start_once, [] {
      if (collector != nullptr) {
        if (const std::string problem = start(*collector); !problem.empty()) {
          say(problem);
        }
      }
    });
  } catch (...) {
    static constexpr char line[] =
        "foretrace: collect: cannot start; the program runs unrecorded\n";
    static_cast<void>(::write(STDERR_FILENO, line, sizeof line - 1));
  }
}

}  // namespace
}  // namespace foretrace::trace::collector

#define FORETRACE_EXPORT extern "C" __attribute__((visibility("default")))

/// Called by the driver when it starts.
FORETRACE_EXPORT int InitializeInjection() {  // NOLINT(readability-identifier-naming): CUDA's name
  foretrace::trace::collector::start_recording();
  return 1;
}

/// Called by NVTX at its first use, maybe before the driver starts. 0: ranges go nowhere.
// NOLINTNEXTLINE(readability-identifier-naming): NVTX's name
FORETRACE_EXPORT int InitializeInjectionNvtx2(void* export_table) {
  using namespace foretrace::trace::collector;
  try {
    std::call_once(load_once, load);
  } catch (...) {
    return 0;
  }
  return collector != nullptr && collector->cupti.nvtx_initialize2 != nullptr &&
                 collector->cupti.nvtx_initialize2(export_table) == CUPTI_SUCCESS
             ? 1
             : 0;
}

/// The same for programs built with an older NVTX.
// NOLINTNEXTLINE(readability-identifier-naming): NVTX's name
FORETRACE_EXPORT int InitializeInjectionNvtx(void* export_table) {
  using namespace foretrace::trace::collector;
  try {
    std::call_once(load_once, load);
  } catch (...) {
    return 0;
  }
  return collector != nullptr && collector->cupti.nvtx_initialize != nullptr &&
                 collector->cupti.nvtx_initialize(export_table) == CUPTI_SUCCESS
             ? 1
             : 0;
}
