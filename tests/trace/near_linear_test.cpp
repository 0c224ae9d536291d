// Small traces that are valid and hurt: each holds one thing many times. Twice as much of it may
// take little more than twice the time and memory, where looking at every pair would take four
// times.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/engine/pull/pull.h"
#include "tests/trace/rules/table_builder.h"
#include "tests/trace/support/hostile_traces.h"
#include "trace/assemble/build_graph.h"
#include "trace/formats/reader.h"
#include "trace/io/byte_source.h"
#include "trace/nodes/node_job.h"
#include "trace/table/split_ranks.h"

namespace foretrace::trace {
namespace {

struct Cost {
  double seconds = 0;
  double megabytes = 0;
};

/// In a process of its own: its time on processors, and how far its memory grew.
Cost cost_of(const std::function<void()>& work) {
  ::malloc_trim(0);  // what lies idle here would be used there, unseen
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  struct rusage use {};
  REQUIRE(::wait4(child, &status, 0, &use) == child);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 0);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return {seconds(use.ru_utime) + seconds(use.ru_stime),
          static_cast<double>(use.ru_maxrss) / 1024.0};
}

void read_and_simulate(const std::string& bytes) {
  Result<LoadedTrace> loaded = read_source(open_memory(bytes, "t"), {});
  if (!loaded.ok()) {
    return;  // refused, which costs as well
  }
  for (EventTable& part : split_ranks(std::move(loaded->events))) {
    LoadedTrace trace;
    trace.events = std::move(part);
    const auto built = build_graph(trace);
    if (built.ok()) {
      static_cast<void>(simulate(built->graph));
    }
  }
}

/// Bytes of memory for each byte that a reader was given, whatever they say: what trace/README.md
/// promises. An event has 60 bytes and more as JSON, a task with all that is known of it some 600.
constexpr double most_bytes_per_byte = 64;

#ifdef __SANITIZE_ADDRESS__
constexpr double noise_mb = 64;  // it adds to each allocation, and keeps what is freed
#else
constexpr double noise_mb = 16;
#endif

/// `bytes` is what the larger one was given.
void check_growth(const std::function<void()>& once, const std::function<void()>& twice,
                  std::size_t bytes) {
  const double floor = cost_of([] {}).megabytes;
  Cost small;
  Cost large;
  bool grows_little = false;
  // Other processes share the caches: the best of a few tries counts. Short times are all noise.
  constexpr double noise_s = 0.02;
  for (int i = 0; i < 5 && !grows_little; ++i) {
    small = cost_of(once);
    large = cost_of(twice);
    grows_little = large.seconds < 3 * small.seconds + noise_s;
  }
  CHECK_MESSAGE(grows_little, small.seconds, " s, then ", large.seconds, " s");
  CHECK(large.megabytes - floor < 3 * (small.megabytes - floor) + noise_mb);
  CHECK(large.megabytes - floor <
        most_bytes_per_byte * static_cast<double>(bytes) / 1e6 + noise_mb);
}

struct Growing {
  const char* name;
  std::string (*make)(int n);
  int n;
};

TEST_CASE("near linear: twice as many of one thing take little more than twice as much") {
  for (const Growing& growing : std::vector<Growing>{
           {"threads", hostile::threads, 10'000},
           {"silent threads", hostile::silent_threads, 5'000},
           {"equal correlations", hostile::equal_correlations, 20'000},
           {"device synchronizations", hostile::device_synchronizations, 5'000},
           {"stream synchronizations", hostile::stream_synchronizations, 5'000},
           {"contradicted synchronizations", hostile::contradicted_synchronizations, 2'000},
           {"event waits", hostile::event_waits, 2'000},
           {"hidden synchronizations", hostile::hidden_synchronizations, 10'000},
           {"default stream", hostile::default_stream, 1'000},
           {"devices", hostile::devices, 10'000},
           {"nested modules", hostile::nested_modules, 10'000},
           {"process groups", hostile::process_groups, 5'000},
           {"planes", hostile::planes, 30'000},
           {"lines and metadata", hostile::lines_and_metadata, 10'000},
           {"called operands", hostile::called_operands, 20'000},
           {"calls of calls", hostile::calls_of_calls, 1'000},
           {"programs in turn", hostile::programs_in_turn, 10'000},
           {"pickled dictionary", hostile::pickle_names_one_dictionary, 4'000},
           {"pickled lists", hostile::pickle_nested_lists, 100'000}}) {
    CAPTURE(growing.name);
    const std::string once = growing.make(growing.n);
    const std::string twice = growing.make(2 * growing.n);
    check_growth([&] { read_and_simulate(once); }, [&] { read_and_simulate(twice); }, twice.size());
  }
}

/// A recording of n processes, each with a kernel and a name of its own.
EventTable processes(int n) {
  EventTable table;
  table.descriptors.emplace_back();
  for (int i = 0; i < n; ++i) {
    Track track;
    track.kind = Track::Kind::stream;
    track.rank = i;
    track.device = 0;
    track.number = 7;
    table.tracks.push_back(track);
    table.kind.push_back(EventKind::kernel);
    table.name.push_back(table.names.intern("kernel " + std::to_string(i)));
    table.track.push_back(make_id<TrackId>(static_cast<std::size_t>(i)));
    table.start_ns.push_back(10 * i);
    table.duration_ns.push_back(5);
    table.correlation.push_back(static_cast<std::uint32_t>(i + 1));
    table.external_id.push_back(0);
    table.descriptor.push_back(DescriptorId{0});
    table.syncs.push_back({.correlation = i + 1});
    table.info.devices.push_back({.rank = 0, .id = i, .name = "device"});
  }
  return table;
}

TEST_CASE("near linear: processes of one recording are taken apart at the cost of each") {
  const auto work = [](int n) {
    return [n] {
      const std::vector<EventTable> parts = split_ranks(processes(n));
      if (parts.size() != static_cast<std::size_t>(n) || parts.back().names.size() > 2 ||
          parts.back().syncs.size() != 1) {
        ::_exit(1);
      }
    };
  };
  constexpr std::size_t database_bytes_per_process = 1000;
  check_growth(work(2000), work(4000), 4000 * database_bytes_per_process);
}

/// A line of n copies that are all on their way at once.
EventTable open_copies(int n) {
  TableBuilder t;
  t.orphan(t.stream(2), 0, 10);
  for (int i = 0; i < n; ++i) {
    t.event(EventKind::copy, "copy-start", t.stream(3), i, 2.0 * n);
  }
  return std::move(t.table());
}

TEST_CASE("near linear: copies that are on their way at once find a lane at the cost of each") {
  const auto work = [](int n) {
    return [n, table = open_copies(n)] {
      const auto built = build_graph(table, BuildOptions{});
      if (!built.ok() || built->graph.size() < static_cast<std::size_t>(n)) ::_exit(1);
    };
  };
  constexpr std::size_t json_bytes_per_copy = 250;
  check_growth(work(40'000), work(80'000), 80'000 * json_bytes_per_copy);
}

/// A rank that meets others 40 times, in one of two groups.
std::string meeting_rank() {
  std::string text = R"({"workload_graph": [)";
  for (int i = 0; i < 40; ++i) {
    text += (i == 0 ? "" : ",") + std::string(R"({"Id": )") + std::to_string(i + 1) +
            R"(, "Name": "meet", "NodeType": 7, "comm_type": 0, "comm_size": 8, "is_cpu_op": false,
            "pg_name": ")" +
            (i % 2 == 0 ? "g" : "h") + R"(", "data_deps": [)" +
            (i == 0 ? std::string() : std::to_string(i)) + "]}";
  }
  return text + "]}";
}

TEST_CASE("near linear: ranks find the groups that they meet in at the cost of each rank") {
  const std::string text = meeting_rank();
  const auto trace = read_source(open_memory(text, "t"), {});
  REQUIRE_MESSAGE(trace.ok(), trace.error().message);
  const auto work = [&trace](int n) {
    return [n, &trace] {
      std::vector<RankNodes> ranks;
      GroupList groups;
      for (int i = 0; i < n; ++i) {
        ranks.push_back({i, &trace->events, trace->nodes()});
        groups["g"].push_back(i);
        groups["h"].push_back(i);
      }
      const auto job = build_node_job(
          ranks, NodeGroups(ranks, groups, "groups.json"), {},
          [](const NodeExchange&) -> Result<ExchangeTime> { return ExchangeTime{}; });
      if (!job.ok() || job->exchanges != 40) ::_exit(1);
    };
  };
  check_growth(work(1000), work(2000), 2000 * text.size());
}

TEST_CASE("near linear: the traces that hurt are read, and hold what they are named after") {
  const auto graph_of = [](const std::string& bytes) {
    Result<LoadedTrace> loaded = read_source(open_memory(bytes, "t"), {});
    REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
    auto built = build_graph(*loaded);
    REQUIRE(built.ok());
    return std::move(built).value();
  };
  constexpr int n = 100;
  CHECK(graph_of(hostile::silent_threads(n)).honesty.hand_overs > n);
  CHECK(graph_of(hostile::contradicted_synchronizations(n)).honesty.contradicted_edges == n);
  CHECK(graph_of(hostile::programs_in_turn(n)).graph.size() >= n);
  const auto called = read_source(open_memory(hostile::calls_of_calls(n), "t"), {});
  REQUIRE_MESSAGE(called.ok(), called.error().message);
  CHECK(called->report.dropped() == 1);
  const auto joined = graph_of(hostile::default_stream(n)).honesty;
  CHECK(joined.edges_by_origin[4] >= 4 * n);
}

}  // namespace
}  // namespace foretrace::trace
