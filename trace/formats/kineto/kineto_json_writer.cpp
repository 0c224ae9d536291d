// Writer of JSON traces as PyTorch's profiler (Kineto) writes them: what our reader reads back to
// the same table, with the arrows from launches to kernels that viewers draw.
#include <array>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "trace/formats/kineto/kineto_text.h"
#include "trace/formats/writer.h"

namespace foretrace::trace::writers::kineto_json_parts {
namespace {

using formats::TextBuffer;

std::string_view category_of(EventKind kind, bool is_hip) {
  switch (kind) {
    case EventKind::cpu_op: return "cpu_op";
    case EventKind::user_annotation: return "user_annotation";
    case EventKind::runtime: return is_hip ? "hip_runtime" : "cuda_runtime";
    case EventKind::python_function: return "python_function";
    case EventKind::overhead: return "overhead";
    case EventKind::kernel: return "kernel";
    case EventKind::copy: return "gpu_memcpy";
    case EventKind::set: return "gpu_memset";
    case EventKind::gpu_annotation: return "gpu_user_annotation";
    case EventKind::other: return "other";
  }
  return "other";
}

std::string_view name_of(SyncKind kind) {
  switch (kind) {
    case SyncKind::stream_sync: return "Stream Sync";
    case SyncKind::context_sync: return "Context Sync";
    case SyncKind::event_sync: return "Event Sync";
    case SyncKind::stream_wait: return "Stream Wait Event";
    case SyncKind::unknown: return "Unknown Sync";
  }
  return "Unknown Sync";
}

class KinetoWriter {
 public:
  KinetoWriter(const LoadedTrace& trace, const ByteSink& sink)
      : trace_(trace),
        table_(trace.events),
        out_(sink),
        descriptors_(table_),
        tracks_(formats::track_texts(table_)) {}

  Result<WriteReport> write() {
    FORETRACE_TRY(check_holds_events(trace_, report_));
    remember_launches();
    head();
    metadata();
    events();
    for (const SyncRecord& sync : table_.syncs) {
      add(sync);
    }
    out_ << "\n]}\n";
    if (!out_.flush(true)) {
      return Error{ErrorCode::io, "the trace cannot be written"};
    }
    if (descriptors_.left_out() > 0) {
      report_.left_out.push_back(
          fmt::format("{} arguments that are no JSON", descriptors_.left_out()));
    }
    return report_;
  }

 private:
  void environment() {
    if (table_.info.environment.empty()) return;
    out_ << "\"environment\": {";
    bool first = true;
    for (const auto& [key, value] : table_.info.environment) {
      out_ << (std::exchange(first, false) ? "" : ", ");
      out_.quoted(key) << ": ";
      out_.quoted(value);
    }
    out_ << "},\n";
  }

  void remember_launches() {
    for (std::size_t row = 0; row < table_.size(); ++row) {
      if (table_.kind[row] == EventKind::runtime && table_.correlation[row] != 0) {
        launches_.try_emplace(table_.correlation[row], Launch{row, false});
      }
    }
  }

  void head() {
    const TraceInfo& info = table_.info;
    out_ << "{\n\"schemaVersion\": 1,\n\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": "
         << info.base_time_ns << ",\n";
    if (info.is_hip) {
      out_ << "\"hip_runtime_version\": 0,\n";
    }
    if (info.rank >= 0 || info.world_size >= 0) {
      out_ << fmt::format("\"distributedInfo\": {{\"rank\": {}, \"world_size\": {}}},\n", info.rank,
                          info.world_size);
    }
    environment();
    out_ << "\"deviceProperties\": [";
    bool first = true;
    for (const DeviceProperties& device : info.devices) {
      out_ << (std::exchange(first, false) ? "\n" : ",\n") << "{\"id\": " << std::int64_t{device.id}
           << ", \"name\": ";
      out_.quoted(device.name) << fmt::format(
          ", \"totalGlobalMem\": {}, \"computeMajor\": {}, \"computeMinor\": {}, "
          "\"maxThreadsPerMultiprocessor\": {}, \"regsPerMultiprocessor\": {}, \"warpSize\": {}, "
          "\"sharedMemPerMultiprocessor\": {}, \"numSms\": {}}}",
          device.total_memory_bytes, device.compute_major, device.compute_minor,
          device.max_threads_per_multiprocessor, device.registers_per_multiprocessor,
          device.warp_size, device.shared_memory_per_multiprocessor, device.multiprocessors);
    }
    out_ << "],\n\"traceEvents\": [";
  }

  void begin_element() {
    out_ << (std::exchange(first_element_, false) ? "\n" : ",\n");
    static_cast<void>(out_.flush(false));
  }

  void metadata() {
    for (std::size_t i = 0; i < table_.tracks.size(); ++i) {
      if (const std::string_view name = table_.names[table_.tracks[i].name]; !name.empty()) {
        begin_element();
        out_ << R"({"ph": "M", "name": "thread_name", "ts": 0, )" << tracks_[i]
             << R"(, "args": {"name": )";
        out_.quoted(name) << "}}";
      }
    }
  }

  // Readers number tracks as they meet them, so that the three lists are merged in a way that keeps
  // the numbers, where there is one.
  void events() {
    const std::size_t rows = table_.size();
    std::vector<bool> met(table_.tracks.size());
    std::size_t next = 0;
    std::array<std::size_t, 3> at{};
    const auto track_at = [&](std::size_t list) {
      return index(list == 0   ? table_.track[at[0]]
                   : list == 1 ? table_.flows[at[1]].track
                               : table_.memory[at[2]].track);
    };
    const std::array<std::size_t, 3> sizes = {rows, table_.flows.size(), table_.memory.size()};
    while (true) {
      std::size_t chosen = sizes.size();
      for (std::size_t list = 0; list < sizes.size(); ++list) {
        if (at[list] == sizes[list]) continue;
        const std::size_t track = track_at(list);
        if (met[track] || track == next) {
          chosen = list;
          break;
        }
        chosen = std::min(chosen, list);
      }
      if (chosen == sizes.size()) return;
      met[track_at(chosen)] = true;
      while (next < met.size() && met[next]) {
        ++next;
      }
      add_element(chosen, at[chosen]++);
    }
  }

  void add_element(std::size_t list, std::size_t position) {
    if (list == 0) {
      add_row(position);
    } else if (list == 1) {
      add(table_.flows[position]);
    } else {
      add(table_.memory[position]);
    }
  }

  void add_row(std::size_t row) {
    const EventKind kind = table_.kind[row];
    begin_element();
    out_ << R"({"ph": "X", "cat": ")" << category_of(kind, table_.info.is_hip) << R"(", "name": )";
    out_.quoted(table_.names[table_.name[row]])
        << ", " << tracks_[index(table_.track[row])] << ", \"ts\": ";
    out_.microseconds(table_.start_ns[row] + table_.info.first_time_ns) << ", \"dur\": ";
    out_.microseconds(table_.duration_ns[row]);
    add_arguments(row);
    out_ << '}';
    ++report_.events;
    if (table_.is_device_event(make_id<EventId>(row))) {
      add_arrow(row);
    }
  }

  void add_arguments(std::size_t row) {
    bool first = true;
    const auto separate = [&] { out_ << (std::exchange(first, false) ? ", \"args\": {" : ", "); };
    const auto number = [&](std::string_view key, std::int64_t value) {
      separate();
      out_ << '"' << key << "\": " << value;
    };
    if (table_.external_id[row] != 0) {
      number("External id", table_.external_id[row]);
    }
    const Track& track = table_.tracks[index(table_.track[row])];
    if (track.kind == Track::Kind::stream) {
      number("device", track.device);
      number("stream", track.number);
    }
    if (table_.correlation[row] != 0) {
      number("correlation", table_.correlation[row]);
    }
    const auto& calls = table_.record_functions;
    if (next_call_ < calls.size() && index(calls[next_call_].event) == row) {
      number("Record function id", calls[next_call_++].number);
    }
    const auto& sequence = table_.sequence_numbers;
    if (next_sequence_ < sequence.size() && index(sequence[next_sequence_].event) == row) {
      number("Sequence number", sequence[next_sequence_].number);
      if (sequence[next_sequence_].forward_thread >= 0) {
        number("Fwd thread id", sequence[next_sequence_].forward_thread);
      }
      ++next_sequence_;
      ++report_.events;
    }
    if (const std::string& text = descriptors_.of(table_.descriptor[row]); !text.empty()) {
      separate();
      out_ << text;
    }
    out_ << (first ? "" : "}");
  }

  // From the call to the work it launched; readers of ours know that from the correlation.
  void add_arrow(std::size_t row) {
    const auto found = launches_.find(table_.correlation[row]);
    if (found == launches_.end()) return;
    const auto end = [&](char phase, std::size_t event) {
      begin_element();
      out_ << R"({"ph": ")" << phase << R"(", "cat": "ac2g", "name": "ac2g", "id": )"
           << std::int64_t{table_.correlation[row]} << ", " << tracks_[index(table_.track[event])]
           << ", \"ts\": ";
      out_.microseconds(table_.start_ns[event] + table_.info.first_time_ns)
          << (phase == 'f' ? ", \"bp\": \"e\"}" : "}");
    };
    if (!std::exchange(found->second.drawn, true)) {
      end('s', found->second.row);
    }
    end('f', row);
  }

  void add(const Flow& flow) {
    begin_element();
    out_ << R"({"ph": ")" << (flow.is_start ? 's' : 'f')
         << R"(", "cat": "fwdbwd", "name": "fwdbwd", "id": )" << flow.id << ", "
         << tracks_[index(flow.track)] << ", \"ts\": ";
    out_.microseconds(flow.time_ns + table_.info.first_time_ns)
        << (flow.is_start ? "}" : ", \"bp\": \"e\"}");
    ++report_.events;
  }

  void add(const MemoryEvent& memory) {
    begin_element();
    out_ << R"({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", )"
         << tracks_[index(memory.track)] << ", \"ts\": ";
    out_.microseconds(memory.time_ns + table_.info.first_time_ns)
        << ", \"args\": {\"Device Type\": " << std::int64_t{memory.device_type}
        << ", \"Device Id\": " << std::int64_t{memory.device} << ", \"Bytes\": " << memory.bytes;
    if (memory.address != 0) {
      out_ << ", \"Addr\": " << static_cast<std::int64_t>(memory.address);
    }
    if (memory.total_allocated != -1) {
      out_ << ", \"Total Allocated\": " << memory.total_allocated;
    }
    if (memory.total_reserved != -1) {
      out_ << ", \"Total Reserved\": " << memory.total_reserved;
    }
    out_ << "}}";
    ++report_.events;
  }

  void add(const SyncRecord& sync) {
    begin_element();
    out_ << R"({"ph": "X", "cat": "cuda_sync", "name": ")" << name_of(sync.kind) << R"(", "pid": )"
         << std::int64_t{sync.device} << ", \"tid\": " << sync.stream << ", \"ts\": ";
    out_.microseconds(sync.start_ns + table_.info.first_time_ns) << ", \"dur\": ";
    out_.microseconds(sync.duration_ns)
        << ", \"args\": {\"cuda_sync_kind\": \"" << name_of(sync.kind)
        << "\", \"device\": " << std::int64_t{sync.device} << ", \"stream\": " << sync.stream
        << ", \"correlation\": " << sync.correlation
        << ", \"wait_on_stream\": " << sync.wait_on_stream
        << ", \"wait_on_cuda_event_record_corr_id\": " << sync.record_correlation << "}}";
    ++report_.events;
  }

  struct Launch {
    std::size_t row = 0;
    bool drawn = false;
  };

  const LoadedTrace& trace_;
  const EventTable& table_;
  TextBuffer out_;
  formats::DescriptorTexts descriptors_;
  std::vector<std::string> tracks_;
  std::unordered_map<std::uint32_t, Launch> launches_;
  std::size_t next_call_ = 0;
  std::size_t next_sequence_ = 0;
  bool first_element_ = true;
  WriteReport report_;
};

Result<WriteReport> write(const LoadedTrace& trace, const ByteSink& sink) {
  return KinetoWriter(trace, sink).write();
}

}  // namespace

extern constexpr WriterInfo info = {
    .name = "kineto_json",
    .summary = "JSON as PyTorch's profiler writes it; opens in Perfetto",
    .suffixes = ".json .json.gz",
    .write = write,
};

}  // namespace foretrace::trace::writers::kineto_json_parts
