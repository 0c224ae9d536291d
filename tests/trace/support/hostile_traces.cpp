#include "tests/trace/support/hostile_traces.h"

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace foretrace::trace::hostile {
namespace {

std::string event(const char* category, const std::string& name, int thread, std::int64_t start_us,
                  std::int64_t duration_us, const std::string& arguments) {
  return fmt::format(
      R"({{"ph":"X","cat":"{}","name":"{}","pid":1,"tid":{},"ts":{},"dur":{},"args":{{{}}}}},)",
      category, name, thread, start_us, duration_us, arguments);
}

std::string call(int id, std::int64_t start_us, int thread = 1,
                 const char* name = "cudaLaunchKernel", int duration_us = 2) {
  return event("cuda_runtime", name, thread, start_us, duration_us,
               fmt::format(R"("correlation":{})", id));
}

std::string kernel(int id, std::int64_t start_us, int stream = 7, int device = 0,
                   int duration_us = 3) {
  return event("kernel", "k", stream, start_us, duration_us,
               fmt::format(R"("device":{},"stream":{},"correlation":{})", device, stream, id));
}

std::string trace_of(std::string events, const std::string& more = "") {
  if (!events.empty()) {
    events.pop_back();  // the last comma
  }
  return R"({"schemaVersion": 1, )" + more + R"("traceEvents": [)" + events + "]}";
}

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7U) {
    out += static_cast<char>((value & 0x7FU) | 0x80U);
  }
  return out + static_cast<char>(value);
}
std::string field(std::uint64_t number, const std::string& payload) {
  return varint(number << 3U | 2U) + varint(payload.size()) + payload;
}

std::string number(std::uint64_t field_number, std::uint64_t value) {
  return varint(field_number << 3U) + varint(value);
}

/// Of a compiled module. `fields`: those beside its name, opcode and number.
std::string instruction(std::uint64_t id, const char* opcode, const std::string& fields) {
  return field(2, field(1, "i") + field(2, opcode) + number(35, id) + fields);
}
std::string computation(std::uint64_t id, const std::string& instructions) {
  return field(3, instructions + number(5, id));
}
/// A profile with programs 0, 1, ... and a stream with these events.
std::string profile_of(const std::vector<std::string>& modules, const std::string& events) {
  std::string plane = field(2, "/host:metadata");
  for (std::size_t i = 0; i < modules.size(); ++i) {
    const std::string stat = number(1, 1) + field(6, field(1, modules[i]));
    plane += field(4, number(1, i) + field(2, field(2, fmt::format("m({})", i)) + field(5, stat)));
  }
  plane += field(5, number(1, 1) + field(2, field(2, "hlo_proto")));
  std::string device = field(2, "/device:GPU:0");
  device += field(4, number(1, 1) + field(2, field(2, "kernel")));
  device += field(5, number(1, 2) + field(2, field(2, "program_id")));
  return field(1, plane) + field(1, device + field(3, field(2, "Stream #1") + events));
}
std::string kernel_of_program(std::uint64_t at, std::uint64_t program) {
  const std::string time = number(2, at * 2000000) + number(3, 1000000);
  return field(4, number(1, 1) + time + field(4, number(1, 2) + number(4, program)));
}

std::string text(const std::string& value) {
  return "\x8c" + std::string(1, static_cast<char>(value.size())) + value;
}
std::string snapshot(const std::string& inside) {
  return "\x80\x04}(" + text("segments") + "](" + inside + "eu.";
}

std::string synchronized_streams(int n, const char* name, std::string events = "") {
  for (int i = 0; i < n; ++i) {
    events += call(i + 1, 10 * i) + kernel(i + 1, 10 * i + 4, i + 8);
  }
  for (int i = 0; i < n; ++i) {
    events += call(n + i + 1, 10 * (n + i), 1, name, 5);
  }
  return trace_of(events);
}

}  // namespace

std::string threads(int n) {
  std::string events;
  for (int i = 0; i < n; ++i) {
    events += call(i + 1, 10 * i, i + 1) + kernel(i + 1, 10 * i + 4);
  }
  return trace_of(events);
}

std::string silent_threads(int n) {
  std::string events;
  for (int i = 0; i < n; ++i) {
    events += call(i + 1, 10 * i, i + 1) + kernel(i + 1, 10 * i + 4);
  }
  for (int i = 0; i < n; ++i) {  // each goes on after a silence in which others worked
    events += call(n + i + 1, 10 * (n + i), i + 1) + kernel(n + i + 1, 10 * (n + i) + 4);
  }
  return trace_of(events);
}

std::string equal_correlations(int n) {
  std::string events;
  for (int i = 0; i < n; ++i) {
    events += call(1, 10 * i) + kernel(1, 10 * i + 4);
  }
  return trace_of(events);
}

std::string device_synchronizations(int n) {
  return synchronized_streams(n, "cudaDeviceSynchronize");
}
std::string stream_synchronizations(int n) {
  return synchronized_streams(n, "cudaStreamSynchronize");
}

/// One kernel outlasts every synchronization, so that none waited for all streams.
std::string contradicted_synchronizations(int n) {
  return synchronized_streams(n, "cudaDeviceSynchronize",
                              call(3 * n, 1) + kernel(3 * n, 5, 7, 0, 100 * n));
}

std::string event_waits(int n) {
  std::string events;
  for (int i = 0; i < n; ++i) {
    events += call(i + 1, 20 * i) + kernel(i + 1, 20 * i + 4, i);
  }
  for (int i = 0; i < n; ++i) {
    const int id = n + 3 * i;
    const std::int64_t start = 20 * (n + i);
    events += call(id + 1, start, 1, "cudaEventRecord") +
              call(id + 2, start + 3, 1, "cudaStreamWaitEvent") + call(id + 3, start + 6) +
              kernel(id + 3, start + 10, i);
  }
  return trace_of(events);
}

/// Silences before event times are read: event synchronizations that were not recorded.
std::string hidden_synchronizations(int n) {
  std::string events;
  for (int i = 0; i < n; ++i) {
    events += call(i + 1, 1000 * i) + kernel(i + 1, 1000 * i + 4, 7, 0, 800) +
              call(n + i + 1, 1000 * i + 900, 1, "cudaEventElapsedTime");
  }
  return trace_of(events);
}

/// Streams that waited for the default stream, and it for them, often enough to show it.
std::string default_stream(int n) {
  std::string events;
  std::int64_t now = 0;
  int id = 1;
  for (int round = 0; round < 4; ++round) {
    events += call(id, now) + kernel(id, now + 5, 0, 0, 3 * n + 200);
    ++id;
    for (int i = 0; i < n; ++i) {
      now += 3;
      events += call(id, now) + kernel(id, (3 * n + 1000) * round + 3 * n + 210, i + 1, 0, 1);
      ++id;
    }
    now = static_cast<std::int64_t>(3 * n + 1000) * (round + 1);
  }
  return trace_of(events);
}

std::string devices(int n) {
  std::string events;
  std::string properties;
  for (int i = 0; i < n; ++i) {
    events += call(i + 1, 10 * i) + kernel(i + 1, 10 * i + 4, 7, i);
    properties += fmt::format(R"({}{{"id": {}, "name": "d"}})", i == 0 ? "" : ",", i);
  }
  return trace_of(events, R"("deviceProperties": [)" + properties + "], ");
}

std::string nested_modules(int n) {
  std::string events;
  for (int i = 0; i < n; ++i) {
    events += event("python_function", fmt::format("nn.Module: m_{}", i), 1, i, 4 * n - 2 * i, "");
  }
  return trace_of(events + call(1, n + 1) + kernel(1, n + 4));
}

std::string process_groups(int n) {
  std::string events;
  std::string groups;
  for (int i = 0; i < n; ++i) {
    events += event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 7, 10 * i, 3,
                    fmt::format(R"("device":0,"stream":7,"correlation":{},)"
                                R"("Collective name":"allreduce","Process Group Name":"{}",)"
                                R"("In msg nelems":1,"Out msg nelems":1,"dtype":"Float",)"
                                R"("Group size":2)",
                                i + 1, i));
    groups += fmt::format(R"({}{{"pg_name": "{}", "ranks": [0, 1]}})", i == 0 ? "" : ",", i);
  }
  return trace_of(events, R"("distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 2, )"
                          R"("pg_config": [)" +
                              groups + "]}, ");
}

std::string planes(int n) {
  std::string bytes;
  for (int i = 0; i < n; ++i) {
    bytes += field(1, field(2, fmt::format("/device:GPU:{}", i)));
  }
  return bytes;
}

std::string lines_and_metadata(int n) {
  std::string plane = field(2, "/device:GPU:0");
  for (int i = 0; i < n; ++i) {
    plane += field(3, field(11, fmt::format("Stream #{}", i)));
  }
  for (int i = 0; i < n; ++i) {
    const std::string id = varint(1U << 3U) + varint(static_cast<std::uint64_t>(i));
    plane += field(5, id + field(2, id + field(2, "s")));
  }
  return field(1, plane);
}

std::string called_operands(int n) {
  const auto size = static_cast<std::size_t>(n);
  const std::string operands = field(36, std::string(size, '\1'));
  const std::string calls = field(38, std::string(size, '\1'));
  return profile_of({computation(1, instruction(1, "parameter", operands)) +
                     computation(2, instruction(1, "call", calls)) + number(6, 2)},
                    kernel_of_program(0, 0));
}

std::string calls_of_calls(int n) {
  std::string dims;
  for (int i = 0; i < 16; ++i) dims += varint(std::uint64_t{1} << 47U);
  const std::string shape = field(3, number(2, 11) + field(3, dims));
  const std::string operands = field(36, std::string(10, '\1'));
  std::string module = computation(1, instruction(1, "fusion", shape + operands));
  constexpr char levels = 8;
  for (char level = 1; level <= levels; ++level) {
    const std::string calls = field(38, std::string(8, level));
    module += computation(static_cast<std::uint64_t>(level) + 1, instruction(1, "call", calls));
  }
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(n); ++i) {
    module += computation(levels + 2 + i, instruction(1, "add", ""));
  }
  return profile_of({module + number(6, levels + 1)}, kernel_of_program(0, 0));
}

std::string programs_in_turn(int n) {
  std::string events;
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<std::uint64_t>(i);
    events += kernel_of_program(at, at % 2);
  }
  const std::string module = computation(1, instruction(1, "parameter", "")) + number(6, 1);
  return profile_of({module, module}, events);
}

std::string pickle_names_one_dictionary(int n) {
  std::string keys;
  std::string again;
  for (int i = 0; i < n; ++i) {
    keys += text(fmt::format("k{}", i)) + "K\x01";
    again += std::string("h\0", 2);
  }
  return snapshot("}\x94(" + keys + "u" + again);
}

std::string pickle_nested_lists(int n) {
  return snapshot(std::string(static_cast<std::size_t>(n), ']') +
                  std::string(static_cast<std::size_t>(n) - 1, 'a'));
}

}  // namespace foretrace::trace::hostile
