// Records a process: CUPTI's callbacks on one side, the writer's thread on the other.
#include "trace/collect/cupti/recorder.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <mutex>
#include <system_error>

#include <cupti.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include "trace/collect/cupti/activities.h"
#include "trace/collect/cupti/call_recorder.h"
#include "trace/collect/cupti/facts.h"
#include "trace/collect/cupti/host.h"
#include "trace/collect/cupti/translate.h"
#include "trace/collect/file_sink.h"
#include "trace/collect/record_writer.h"
#include "trace/collect/settings.h"
#include "trace/collect/step_report.h"
#include "trace/collect/stop_report.h"

namespace foretrace::trace::collector {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{4} << 20U;
// 256 MB: what CUPTI holds while the translator is behind. Beyond it CUPTI drops, and counts.
constexpr int most_buffers = 64;
// A killed program loses what CUPTI has not handed over yet.
constexpr std::uint32_t flush_period_ms = 1000;
constexpr std::int64_t clock_period_ns = 1'000'000'000;

/// Everything of one process. Made once and never destroyed: the program may use CUDA to its end.
struct Recorder {
  Settings settings;
  CuptiFunctions cupti;
  CUpti_SubscriberHandle subscriber{};
  bool subscribed = false;
  std::unique_ptr<FileSink> file;
  std::unique_ptr<RecordWriter> writer;
  std::unique_ptr<Translator> translator;
  std::unique_ptr<CallRecorder> calls;
  std::unique_ptr<StepWindow> window;
  std::mutex translating;
  std::atomic<int> buffers{0};
  std::atomic<bool> active{false};
  std::int64_t last_clock = 0;
  pid_t process = 0;
};

std::atomic<Recorder*> recorder{nullptr};

// No lock and no std::call_once: a child that is forked meanwhile would wait for ever, and an
// exception that passes through libc's pthread_once ends the program.
enum class Progress : std::uint8_t { none, running, done };
std::atomic<Progress> loading{Progress::none};
std::atomic<Progress> starting{Progress::none};

bool begins(std::atomic<Progress>& what) {
  Progress none = Progress::none;
  return what.compare_exchange_strong(none, Progress::running);
}

std::int64_t nanoseconds(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void sample_clocks(Recorder& r, bool always_now) {
  const std::int64_t monotonic = nanoseconds(CLOCK_MONOTONIC);
  if (!always_now && monotonic - r.last_clock < clock_period_ns) return;
  r.last_clock = monotonic;
  std::uint64_t now = 0;
  if (r.cupti.timestamp(&now) == CUPTI_SUCCESS) {
    r.writer->add(ClockRecord{static_cast<std::int64_t>(now), nanoseconds(CLOCK_REALTIME),
                              nanoseconds(CLOCK_MONOTONIC)});
  }
}

void CUPTIAPI on_buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
  const Unnoticed unnoticed;
  Recorder& r = *recorder;
  *records = 0;
  const bool room = r.buffers.fetch_add(1) < most_buffers && r.active;
  *buffer = room ? static_cast<std::uint8_t*>(std::aligned_alloc(8, buffer_bytes)) : nullptr;
  *size = *buffer == nullptr ? 0 : buffer_bytes;
  if (*buffer == nullptr) {
    --r.buffers;
  }
}

void translate(Recorder& r, std::uint8_t* buffer, std::size_t valid, CUcontext context,
               std::uint32_t stream) {
  const std::lock_guard<std::mutex> lock(r.translating);
  CUpti_Activity* record = nullptr;
  while (r.cupti.next_record(buffer, valid, &record) == CUPTI_SUCCESS) {
    r.translator->add(*record);
  }
  std::size_t dropped = 0;
  if (r.cupti.dropped_records(context, stream, &dropped) == CUPTI_SUCCESS && dropped > 0) {
    r.writer->add(DropRecord{static_cast<std::int64_t>(dropped), 0, DropPlace::recorder});
  }
  sample_clocks(r, false);
}

void CUPTIAPI on_buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                  std::size_t /*size*/, std::size_t valid) {
  if (buffer == nullptr) return;
  const Unnoticed unnoticed;
  Recorder& r = *recorder;
  try {
    if (r.active && valid > 0) {
      translate(r, buffer, valid, context, stream);
    }
  } catch (...) {  // out of memory: the buffer is lost, the program goes on
  }
  std::free(buffer);
  --r.buffers;
}

void mark_step(Recorder& r, RangePhase phase, std::string_view range) {
  std::uint64_t now = 0;
  if (r.cupti.timestamp(&now) == CUPTI_SUCCESS) {
    const auto [seen, mark] = r.window->seen();
    const std::string name =
        mark == StepWindow::Mark::updates ? "step " + std::to_string(seen - 1) : std::string(range);
    r.writer->add(RangeRecord{static_cast<std::int64_t>(now), 0, r.writer->text(name), 0,
                              static_cast<std::uint32_t>(::getpid()),
                              static_cast<std::uint32_t>(::gettid()), phase});
  }
}

void switch_recording(Recorder& r, bool on) {
  switch_activities(r.cupti, r.settings, on);
  r.calls->switch_to(on, r.subscriber);
}

void on_range(Recorder& r, const char* name) {
  switch (r.window->range_began(name)) {
    case StepWindow::Change::start:
      switch_recording(r, true);
      mark_step(r, RangePhase::step, name);
      return;
    case StepWindow::Change::step: mark_step(r, RangePhase::step, name); return;
    case StepWindow::Change::stop: mark_step(r, RangePhase::steps_over, name); return;
    case StepWindow::Change::off:
      mark_step(r, RangePhase::switched_off, name);
      switch_recording(r, false);
      return;
    case StepWindow::Change::none: return;
  }
}

void on_call(Recorder& r, bool is_driver, CUpti_CallbackId call, const CUpti_CallbackData& data) {
  if (data.callbackSite == CUPTI_API_ENTER) {
    r.calls->call_began(is_driver, call, data);
  } else {
    const Unnoticed unnoticed;
    r.calls->call_ended(is_driver, call, data);
  }
}

void CUPTIAPI on_callback(void* /*user_data*/, CUpti_CallbackDomain domain, CUpti_CallbackId call,
                          const void* data) {
  Recorder& r = *recorder;
  if (!r.active) return;
  try {
    if (domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API) {
      on_call(r, domain == CUPTI_CB_DOMAIN_DRIVER_API, call,
              *static_cast<const CUpti_CallbackData*>(data));
    } else if (domain == CUPTI_CB_DOMAIN_NVTX && r.window) {
      const Unnoticed unnoticed;
      const auto* const nvtx = static_cast<const CUpti_NvtxData*>(data);
      if (const char* const name = range_of(call, nvtx->functionParams); name != nullptr) {
        on_range(r, name);
      }
    }
  } catch (...) {  // out of memory for an event or a name
  }
}

Facts end_facts(const Recorder& r) {
  Facts facts = {{std::string(device_work_fact), std::to_string(r.translator->device_work())}};
  if (!r.window) return facts;
  const auto [seen, mark] = r.window->seen();
  facts.emplace_back(steps_seen_fact, std::to_string(seen));
  facts.emplace_back(steps_by_fact, mark == StepWindow::Mark::updates ? "updates" : "steps");
  return facts;
}

void finish_now(Recorder& r) {
  // Hands over what CUPTI still holds, on this thread.
  static_cast<void>(r.cupti.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
  if (!r.active.exchange(false)) return;
  {
    const std::lock_guard<std::mutex> lock(r.translating);
    sample_clocks(r, true);
    static_cast<void>(r.writer->finish(end_facts(r)));
  }
  if (const std::string why = r.writer->stopped(); !why.empty()) {
    say(r.settings, "the recording of this program is incomplete: " + why);
  }
}

void finish() {
  const Unnoticed unnoticed;
  const WritesHeld held;
  Recorder& r = *recorder;
  try {
    if (r.process == ::getpid() && r.active) {
      finish_now(r);
    }
  } catch (...) {  // out of memory: the file has no end mark
  }
}

// The writer's thread and CUPTI's stayed in the parent.
void in_forked_child() {
  Recorder& r = *recorder;
  if (r.active.exchange(false)) {
    r.writer->abandon();
  }
}

std::string reason_of(const Recorder& r, const char* what, CUptiResult result) {
  const char* text = nullptr;
  static_cast<void>(r.cupti.result_string(result, &text));
  return std::string(what) + " failed: " + (text == nullptr ? "unknown reason" : text);
}

Facts facts_of(const Recorder& r, std::uint32_t cupti_version) {
  Facts facts = facts_of_process(cupti_version, r.settings.command);
  if (r.settings.steps) {
    facts.emplace_back(steps_fact, std::to_string(r.settings.steps->first) + ":" +
                                       std::to_string(r.settings.steps->last));
  }
  return facts;
}

/// Empty, or why there is no file.
std::string open_file_of(Recorder& r) {
  constexpr int most_attempts = 100;  // a program that becomes another one keeps its number
  const std::string host = host_name();
  std::string path;
  for (int attempt = 1; attempt <= most_attempts; ++attempt) {
    path =
        file_of_process(r.settings.file, host == r.settings.host ? "" : host, ::getpid(), attempt);
    r.file = std::make_unique<FileSink>(path);
    if (r.file->error() != EEXIST) break;
  }
  return r.file->error() == 0
             ? std::string()
             : path + " cannot be written: " + std::generic_category().message(r.file->error());
}

/// Empty, or why nothing is recorded; what was begun is undone by the caller.
std::string begin(Recorder& r) {
  const CUptiResult subscribed = r.cupti.subscribe(&r.subscriber, on_callback, nullptr);
  if (subscribed == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    return "another tool uses CUPTI in this process";
  }
  if (subscribed != CUPTI_SUCCESS) return reason_of(r, "cuptiSubscribe", subscribed);
  r.subscribed = true;
  if (std::string problem = open_file_of(r); !problem.empty()) return problem;
  std::uint32_t version = 0;
  static_cast<void>(r.cupti.get_version(&version));
  WriterLimits limits;
  limits.file_bytes = r.settings.most_bytes;
  // Known beforehand it leaves room for the end of the file, which an error would not.
  rlimit files{};
  if (::getrlimit(RLIMIT_FSIZE, &files) == 0 && files.rlim_cur != RLIM_INFINITY &&
      (limits.file_bytes == 0 || files.rlim_cur < limits.file_bytes)) {
    limits.file_bytes = std::max<std::uint64_t>(files.rlim_cur, 1);
    limits.limit_error = EFBIG;
  }
  r.writer = std::make_unique<RecordWriter>(
      [file = r.file.get()](std::string_view bytes, std::size_t free_behind) {
        return file->write(bytes, free_behind);
      },
      facts_of(r, version), limits);
  r.translator = std::make_unique<Translator>(*r.writer);
  r.calls =
      std::make_unique<CallRecorder>(r.cupti, *r.writer, static_cast<std::uint32_t>(::getpid()));
  if (r.settings.steps) {
    r.window = std::make_unique<StepWindow>(*r.settings.steps);
  }
  r.process = ::getpid();
  const CUptiResult registered =
      r.cupti.register_callbacks(on_buffer_requested, on_buffer_completed);
  if (registered != CUPTI_SUCCESS) {
    return reason_of(r, "cuptiActivityRegisterCallbacks", registered);
  }
  if (::pthread_atfork(nullptr, nullptr, in_forked_child) != 0 || std::atexit(finish) != 0) {
    return "no memory";
  }
  return {};
}

/// From here on nothing fails.
void go(Recorder& r) {
  r.active = true;
  static_cast<void>(r.cupti.set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
  static_cast<void>(r.cupti.flush_period(flush_period_ms));
  sample_clocks(r, true);
  ask_for_descriptions(r.cupti);
  if (r.window) {
    static_cast<void>(r.cupti.enable_domain(1, r.subscriber, CUPTI_CB_DOMAIN_NVTX));
  } else {
    switch_recording(r, true);
  }
}

/// Leaves CUPTI to others, and no file.
void undo(Recorder& r) {
  if (r.subscribed) {
    static_cast<void>(r.cupti.unsubscribe(r.subscriber));
    r.subscribed = false;
  }
  r.translator.reset();
  r.calls.reset();
  r.writer.reset();
  if (r.file) {
    r.file->remove();
    r.file.reset();
  }
}

void unrecorded(const Settings& settings, const std::string& problem) {
  say(settings, problem + "; the program runs unrecorded");
  leave_note(settings, problem);
}

// Reads the settings and loads CUPTI; leaves `recorder` null if there is nothing to do.
void load() {
  auto made = std::make_unique<Recorder>();
  // NOLINTNEXTLINE(concurrency-mt-unsafe): read once, when the device is first used
  made->settings = settings_from([](const char* name) { return std::getenv(name); });
  if (made->settings.file.empty()) return;
  if (const std::string problem = load_cupti(made->cupti); !problem.empty()) {
    unrecorded(made->settings, problem);
    return;
  }
  recorder = made.release();
}

void start(Recorder& r) {
  std::string problem = "no memory";
  try {
    problem = begin(r);
  } catch (const std::system_error&) {  // of the writer's thread
    problem = "no thread can be started";
  } catch (...) {
  }
  if (problem.empty()) {
    go(r);
  } else {
    undo(r);
    unrecorded(r.settings, problem);
  }
}

}  // namespace

const CuptiFunctions* load_recorder() noexcept {
  const Unnoticed unnoticed;
  const WritesHeld held;
  if (begins(loading)) {
    try {
      load();
    } catch (...) {  // no memory, not even to say so
    }
    loading = Progress::done;
  }
  // Another thread may be at it; of a forked child it never comes back.
  constexpr timespec pause{0, 1'000'000};
  for (int waited = 0; loading != Progress::done && waited < 1000; ++waited) {
    ::nanosleep(&pause, nullptr);
  }
  Recorder* const r = loading == Progress::done ? recorder.load() : nullptr;
  const bool failed = r != nullptr && starting == Progress::done && !r->active;
  return r == nullptr || failed ? nullptr : &r->cupti;
}

void start_recording() noexcept {
  if (!begins(starting)) return;
  start_first_library();
  const Unnoticed unnoticed;
  const WritesHeld held;
  try {
    if (load_recorder() != nullptr) {
      start(*recorder);
    }
  } catch (...) {  // no memory to say what went wrong
  }
  starting = Progress::done;
}

}  // namespace foretrace::trace::collector
