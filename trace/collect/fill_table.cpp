// Records into events: calls, device work, waits, ranges and memory on one time axis.
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "sim/core/integers.h"
#include "trace/collect/environment.h"
#include "trace/collect/names.h"
#include "trace/collect/recording.h"
#include "trace/collect/step_report.h"
#include "trace/collect/step_spans.h"
#include "trace/collect/stop_report.h"
#include "trace/collect/table_filler.h"
#include "trace/io/text.h"

namespace foretrace::trace::collector {
namespace {

SyncKind sync_kind_of(WaitKind kind) {
  switch (kind) {
    case WaitKind::event_synchronize: return SyncKind::event_sync;
    case WaitKind::stream_wait_event: return SyncKind::stream_wait;
    case WaitKind::stream_synchronize: return SyncKind::stream_sync;
    case WaitKind::context_synchronize: return SyncKind::context_sync;
    case WaitKind::unknown: return SyncKind::unknown;
  }
  return SyncKind::unknown;
}

// The middle of what the moments seen on both clocks say: one that was interrupted does not count.
std::int64_t offset_of(const std::vector<ClockRecord>& clocks) {
  std::vector<std::int64_t> offsets;
  for (const ClockRecord& clock : clocks) {
    if (clock.record_time > 0 && clock.record_time < latest && clock.real_time > 0 &&
        clock.real_time < latest) {
      offsets.push_back(clock.real_time - clock.record_time);
    }
  }
  std::sort(offsets.begin(), offsets.end());
  return offsets.empty() ? 0 : offsets[offsets.size() / 2];
}

class Converter {
 public:
  Converter(const Recording& recording, LoadedTrace& trace)
      : recording_(recording), trace_(trace), filler_(trace), names_(recording.texts.size()) {}

  void run() {
    info();
    index_records();
    for (const ApiRecord& api : recording_.apis) {
      if (api.start < steps_.over) {
        add(api);
      }
    }
    for (const KernelRecord& kernel : recording_.kernels) {
      add(kernel);
    }
    for (const CopyRecord& copy : recording_.copies) {
      Descriptor d;
      d.bytes = copy.bytes;
      add_work(copy, EventKind::copy, filler_.names().intern(copy_name(copy)), d);
    }
    for (const SetRecord& set : recording_.sets) {
      Descriptor d;
      d.bytes = set.bytes;
      add_work(set, EventKind::set, filler_.names().intern(set_name(set)), d);
    }
    for (const GraphRecord& graph : recording_.graphs) {
      add_work(graph, EventKind::kernel,
               filler_.names().intern(fmt::format("CUDA graph {}, whole", graph.graph)), {});
    }
    for (const OverheadRecord& overhead : recording_.overheads) {
      if (overhead.start >= steps_.over) continue;
      filler_.add({overhead.start,
                   overhead.end,
                   EventKind::overhead,
                   name(overhead.name),
                   filler_.host_thread(overhead.process, overhead.thread),
                   0,
                   0,
                   {}},
                  "overhead");
    }
    add_ranges();
    add_waits();
    add_memory();
    name_threads();
    filler_.fill(offset_of(recording_.clocks), trace_.events.info.rank);
    report();
  }

 private:
  void info() {
    TraceInfo& info = trace_.events.info;
    info.format = "ftr";
    info.rank = rank_of("rank");
    info.world_size = rank_of("world size");
    info.environment = environment_of(recording_);
    for (const DeviceRecord& device : recording_.devices) {
      DeviceProperties properties;
      properties.rank = std::max(info.rank, 0);
      properties.id = clamped_int32(device.id);
      properties.name = std::string(text(device.name));
      properties.total_memory_bytes = device.memory_bytes;
      properties.multiprocessors = clamped_int32(device.multiprocessors);
      properties.compute_major = clamped_int32(device.compute_major);
      properties.compute_minor = clamped_int32(device.compute_minor);
      properties.max_threads_per_multiprocessor = clamped_int32(device.threads_per_multiprocessor);
      properties.registers_per_multiprocessor = clamped_int32(device.registers_per_multiprocessor);
      properties.shared_memory_per_multiprocessor = device.shared_bytes_per_multiprocessor;
      properties.warp_size = clamped_int32(device.warp_size);
      info.devices.push_back(std::move(properties));
    }
  }

  std::int32_t rank_of(std::string_view key) const {
    const std::int64_t value = ftr::number_of(recording_.facts, key, -1);
    return value >= 0 ? clamped_int32(value) : -1;
  }

  void index_records() {
    steps_ = step_spans_of(recording_);
    for (const ContextRecord& context : recording_.contexts) {
      devices_[context.context] = context.device;
    }
    for (const KernelRecord& kernel : recording_.kernels) {
      devices_.try_emplace(kernel.context, kernel.device);
    }
    for (const CopyRecord& copy : recording_.copies) {
      devices_.try_emplace(copy.context, copy.device);
    }
    for (const ApiRecord& api : recording_.apis) {
      Caller& caller = callers_[api.correlation];
      caller.start = std::max(caller.start, api.start);
      caller.process = api.process;
      caller.thread = api.thread;
      caller.by_runtime = caller.by_runtime || !api.is_driver;
    }
    for (const ExternalRecord& external : recording_.externals) {
      if (external.id > std::numeric_limits<std::uint32_t>::max()) {
        filler_.drop("external id beyond 32 bits", "external id");
      } else {
        externals_[external.correlation] = static_cast<std::uint32_t>(external.id);
      }
    }
    for (const EventRecord& event : recording_.events) {
      recordings_[{event.context, event.event}].push_back(&event);
    }
    for (auto& [key, list] : recordings_) {
      std::stable_sort(list.begin(), list.end(), [](const EventRecord* a, const EventRecord* b) {
        return a->correlation < b->correlation;
      });
    }
  }

  [[nodiscard]] std::string_view text(TextNumber number) const {
    return number < recording_.texts.size() ? std::string_view(recording_.texts[number])
                                            : std::string_view();
  }

  // The name of a text as it stands in the table: a readable one.
  NameId name(TextNumber number) {
    if (number >= names_.size()) {
      filler_.drop("text that is missing", "name");
      return {};
    }
    if (!names_[number]) {
      names_[number] = filler_.names().intern(demangled(recording_.texts[number]));
    }
    return *names_[number];
  }

  std::uint32_t external_id(std::uint32_t correlation) const {
    const auto found = externals_.find(correlation);
    return found == externals_.end() ? 0 : found->second;
  }

  void add(const ApiRecord& api) {
    // A runtime call that goes through the driver is recorded twice, under one correlation id.
    if (api.is_driver && callers_[api.correlation].by_runtime && api.correlation != 0) return;
    filler_.add({api.start,
                 api.end,
                 EventKind::runtime,
                 filler_.names().intern(call_name(text(api.name))),
                 filler_.host_thread(api.process, api.thread),
                 api.correlation,
                 external_id(api.correlation),
                 {}},
                "call");
  }

  void add(const KernelRecord& kernel) {
    Descriptor d;
    d.grid = kernel.grid;
    d.block = kernel.block;
    d.registers_per_thread = clamped_int32(kernel.registers_per_thread);
    d.shared_memory_bytes =
        clamped_int32(std::int64_t{kernel.static_shared_bytes} + kernel.dynamic_shared_bytes);
    if (kernel.cluster[0] > 1 || kernel.cluster[1] > 1 || kernel.cluster[2] > 1) {
      d.text =
          filler_.names().intern(fmt::format("{{\"cluster\": [{}, {}, {}]}}", kernel.cluster[0],
                                             kernel.cluster[1], kernel.cluster[2]));
    }
    add_work(kernel, EventKind::kernel, name(kernel.name), d);
  }

  // Of a later step, or of the last one and not over when recording was switched off.
  bool left_out(const DeviceWork& work) {
    const auto caller = callers_.find(work.correlation);
    if (caller != callers_.end() && caller->second.start >= steps_.over) return true;
    if (work.end >= steps_.off) {
      filler_.drop("GPU work in progress when recording was switched off", "device work");
      return true;
    }
    return false;
  }

  void add_work(const DeviceWork& work, EventKind kind, NameId name, Descriptor descriptor) {
    if (left_out(work)) return;
    if (work.graph_node != 0 && index(descriptor.text) == 0) {
      descriptor.text = filler_.names().intern(
          fmt::format("{{\"graph id\": {}, \"graph node id\": {}}}", work.graph, work.graph_node));
    }
    filler_.add({work.start, work.end, kind, name, filler_.stream(work.device, work.stream),
                 work.correlation, external_id(work.correlation), filler_.descriptor(descriptor)},
                "device work");
  }

  void add_ranges() {
    for (const StepSpan& step : steps_.spans) {
      add_range(*step.mark, step.end);
    }
    std::vector<const RangeRecord*> order;
    for (const RangeRecord& range : recording_.ranges) {
      if (range.phase <= RangePhase::mark && range.time < steps_.over) {
        order.push_back(&range);
      }
    }
    std::stable_sort(order.begin(), order.end(), [](const RangeRecord* a, const RangeRecord* b) {
      return std::pair(a->time, a->phase) < std::pair(b->time, b->phase);
    });
    const bool is_cut = !steps_.spans.empty();
    std::map<std::uint64_t, const RangeRecord*> open;
    for (const RangeRecord* const range : order) {
      if (range->phase == RangePhase::begin) {
        open[range->id] = range;
      } else if (range->phase == RangePhase::end) {
        const auto begun = open.find(range->id);
        if (begun == open.end()) {
          if (!is_cut) {
            filler_.drop("end of a range that never began", "range");
          }
          continue;
        }
        add_named_range(*begun->second, range->time);
        open.erase(begun);
      }
    }
    for (const auto& [id, range] : open) {
      if (is_cut && marks_step(text(range->name))) {
        continue;  // the one that began the step behind the last
      }
      if (is_cut && steps_.over < latest) {
        add_named_range(*range, steps_.over);
      } else {
        filler_.drop("range without an end", text(range->name));
      }
    }
  }

  static bool marks_step(std::string_view range) {
    return names_step(range) || names_update(range);
  }

  // Steps have ranges of their own, which last from one to the next.
  void add_named_range(const RangeRecord& range, std::int64_t end) {
    if (steps_.spans.empty() || !names_step(text(range.name))) {
      add_range(range, end);
    }
  }

  void add_range(const RangeRecord& range, std::int64_t end) {
    Descriptor d;
    if (const std::string_view domain = text(range.domain); !domain.empty()) {
      d.text = filler_.names().intern(fmt::format("{{\"domain\": \"{}\"}}", json_escaped(domain)));
    }
    filler_.add({range.time, end, EventKind::user_annotation, name(range.name),
                 filler_.host_thread(range.process, range.thread), 0, 0, filler_.descriptor(d)},
                "range");
  }

  // The recording of the event that was waited for: told by its number, or the last before.
  const EventRecord* recording_of(const SynchronizationRecord& wait) const {
    if (wait.event < 0) return nullptr;
    const auto found = recordings_.find({wait.context, static_cast<std::uint32_t>(wait.event)});
    if (found == recordings_.end()) return nullptr;
    const std::vector<const EventRecord*>& list = found->second;
    if (wait.event_record != 0) {
      const auto same = std::find_if(list.begin(), list.end(), [&](const EventRecord* event) {
        return event->event_record == wait.event_record;
      });
      return same == list.end() ? nullptr : *same;
    }
    const auto behind = std::upper_bound(
        list.begin(), list.end(), wait.correlation,
        [](std::uint32_t value, const EventRecord* event) { return value < event->correlation; });
    return behind == list.begin() ? nullptr : *(behind - 1);
  }

  void add_waits() {
    for (const SynchronizationRecord& wait : recording_.synchronizations) {
      if (wait.start >= steps_.over) continue;
      if (wait.start <= 0 || wait.end < wait.start || wait.end >= latest) {
        filler_.drop("record without a time", "synchronization");
        continue;
      }
      SyncRecord sync;
      sync.kind = sync_kind_of(wait.kind);
      const auto device = devices_.find(wait.context);
      sync.device = device == devices_.end() ? -1 : clamped_int32(device->second);
      sync.stream = std::max<std::int64_t>(wait.stream, -1);
      sync.correlation = wait.correlation;
      sync.start_ns = wait.start;
      sync.duration_ns = wait.end - wait.start;
      if (const EventRecord* const event = recording_of(wait)) {
        sync.wait_on_stream = event->stream;
        sync.record_correlation = event->correlation;
      }
      trace_.events.syncs.push_back(sync);
    }
  }

  void add_memory() {
    std::map<std::uint32_t, std::int64_t> held;
    for (const MemoryRecord& record : recording_.memory) {
      if (record.time >= steps_.over) continue;
      if (record.time <= 0 || record.time >= latest || record.bytes < 0 || record.bytes >= latest) {
        filler_.drop("record without a time", "memory");
        continue;
      }
      const bool on_device = record.place == MemoryPlace::device ||
                             record.place == MemoryPlace::managed ||
                             record.place == MemoryPlace::array;
      const auto caller = callers_.find(record.correlation);
      const std::uint32_t thread = caller == callers_.end() ? 0 : caller->second.thread;
      MemoryEvent event;
      event.time_ns = record.time;
      event.track =
          filler_.host_thread(record.process, record.thread != 0 ? record.thread : thread);
      event.device_type = on_device ? 1 : 0;
      event.device = on_device ? clamped_int32(record.device) : -1;
      event.bytes = record.is_release ? -record.bytes : record.bytes;
      event.address = record.address;
      if (on_device) {
        held[record.device] =
            std::clamp<std::int64_t>(held[record.device] + event.bytes, 0, latest);
        event.total_reserved = held[record.device];
      }
      trace_.events.memory.push_back(event);
    }
  }

  void name_threads() {
    for (const ThreadRecord& thread : recording_.threads) {
      const TrackId track = filler_.host_thread(thread.process, thread.thread);
      trace_.events.tracks[index(track)].name = name(thread.name);
    }
  }

  void report() {
    ImportReport& report = trace_.report;
    std::apply([&](const auto&... list) { report.events += (list.size() + ...); },
               lists_of(recording_));
    const std::string stopped = stop_warning(recording_.facts);
    for (const DropRecord& drop : recording_.drops) {
      const auto count =
          static_cast<std::uint64_t>(std::clamp<std::int64_t>(drop.count, 0, latest));
      if (count == 0) continue;
      report.events += count;
      if (drop.place == DropPlace::recorder) {
        filler_.drop("records lost by CUPTI while recording", "counted by CUPTI", count);
      } else {
        filler_.drop(fmt::format("records of {} {}", kind_name(static_cast<RecordKind>(drop.kind)),
                                 stopped.empty() ? "the disk was too slow for"
                                                 : "that could not be written"),
                     "counted by the writer", count);
      }
    }
    report.kept = std::min(report.kept, report.events);
    for (const std::string& warning : {step_warning(recording_.facts), stopped}) {
      if (!warning.empty()) {
        report.warnings.push_back(warning);
      }
    }
  }

  struct Caller {
    std::int64_t start = 0;
    std::uint32_t process = 0;
    std::uint32_t thread = 0;
    bool by_runtime = false;
  };

  const Recording& recording_;
  LoadedTrace& trace_;
  TableFiller filler_;
  std::vector<std::optional<NameId>> names_;
  StepSpans steps_;
  std::unordered_map<std::uint32_t, std::uint32_t> devices_;    // of contexts
  std::unordered_map<std::uint32_t, std::uint32_t> externals_;  // of correlation ids
  std::unordered_map<std::uint32_t, Caller> callers_;           // of correlation ids
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<const EventRecord*>> recordings_;
};

}  // namespace

void fill_table(const Recording& recording, LoadedTrace& trace) {
  Converter(recording, trace).run();
}

}  // namespace foretrace::trace::collector
