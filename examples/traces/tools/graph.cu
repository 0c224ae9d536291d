// What a CUDA graph costs to launch, by its nodes: graph FILE.csv
//   nvcc -O2 -o graph graph.cu && ./graph graph.csv
// Per number of nodes, a line of kernels of some microseconds each: host time of the launch call, from the begin of the call to
// the first node on an idle device (a kernel that writes a flag in host memory, seen by a polling thread), the time from one
// node to the next beyond the kernel's own, and the same call behind a graph that still runs. In us, over 40 launches.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e)); std::exit(1); } } while (0)

struct Params { int words[16]; };
__global__ void flagged(volatile long long* flag, long long value, long long cycles, Params) {
  if (flag != nullptr) { *flag = value; __threadfence_system(); }
  const long long until = clock64() + cycles;
  while (clock64() < until) {}
}

static double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static void row(std::FILE* out, const char* what, int nodes, std::vector<double> us) {
  std::sort(us.begin(), us.end());
  const auto at = [&](double q) { return us[static_cast<std::size_t>(q * static_cast<double>(us.size() - 1))]; };
  std::fprintf(out, "%s,%d,%.3f,%.3f,%.3f\n", what, nodes, at(0.1), at(0.5), at(0.9));
  std::printf("%s,%d,%.3f,%.3f,%.3f\n", what, nodes, at(0.1), at(0.5), at(0.9));
}

struct Watch {  // the time at which the flag changes, seen from another thread
  volatile long long* flag;
  std::atomic<long long> wanted{0};
  std::atomic<long long> seen{0};
  std::atomic<bool> stop{false};
  double seen_us = 0;
  std::thread thread;
  explicit Watch(volatile long long* f) : flag(f), thread([this] {
    while (!stop) {
      const long long want = wanted;
      if (want != seen && *flag == want) { seen_us = now_us(); seen = want; }
    }
  }) {}
  ~Watch() { stop = true; thread.join(); }
};

int main(int argc, char** argv) {
  if (argc != 2) { std::fprintf(stderr, "usage: graph FILE.csv\n"); return 2; }
  std::FILE* out = std::fopen(argv[1], "w");
  if (out == nullptr) { std::perror(argv[1]); return 1; }
  std::fprintf(out, "what,nodes,p10_us,p50_us,p90_us\n");
  long long* host = nullptr;
  CHECK(cudaHostAlloc(&host, sizeof *host, cudaHostAllocMapped));
  *host = 0;
  long long* device = nullptr;
  CHECK(cudaHostGetDevicePointer(&device, host, 0));
  cudaStream_t stream, other;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  Watch watch(host);
  const long long cycles = 5000;  // 2.5 to 3 us
  const int rounds = 40;

  {  // the same way of seeing a start, for one plain launch
    std::vector<double> starts, calls;
    for (int i = 0; i < rounds + 5; ++i) {
      *host = 0; watch.wanted = 1; watch.seen = 0;
      const double before = now_us();
      flagged<<<1, 1, 0, stream>>>(device, 1, cycles, Params{});
      const double after = now_us();
      CHECK(cudaStreamSynchronize(stream));
      while (watch.seen != 1) {}
      watch.wanted = 0;
      if (i >= 5) { starts.push_back(watch.seen_us - before); calls.push_back(after - before); }
    }
    row(out, "launch_call", 0, calls);
    row(out, "launch_to_start", 0, starts);
  }
  for (const int nodes : {2, 8, 32, 128, 256, 512, 1024, 2048, 4096}) {
    for (const bool branched : {false, true}) {
      cudaEvent_t fork, join;
      CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
      CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
      cudaGraph_t graph;
      cudaGraphExec_t exec;
      CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
      flagged<<<1, 1, 0, stream>>>(device, 1, cycles, Params{});
      if (branched) { CHECK(cudaEventRecord(fork, stream)); CHECK(cudaStreamWaitEvent(other, fork)); }
      for (int i = 1; i < nodes; ++i) {
        flagged<<<1, 1, 0, branched && i % 2 ? other : stream>>>(nullptr, 0, cycles, Params{});
      }
      if (branched) { CHECK(cudaEventRecord(join, other)); CHECK(cudaStreamWaitEvent(stream, join)); }
      CHECK(cudaStreamEndCapture(stream, &graph));
      CHECK(cudaGraphInstantiate(&exec, graph, 0));
      std::vector<double> calls, starts, wholes, busy_calls, first;
      for (int i = 0; i < rounds + 3; ++i) {
        *host = 0; watch.wanted = 1; watch.seen = 0;
        const double before = now_us();
        CHECK(cudaGraphLaunch(exec, stream));
        const double after = now_us();
        while (watch.seen != 1) {}
        CHECK(cudaStreamSynchronize(stream));
        const double end = now_us();
        watch.wanted = 0;
        if (i == 0) { first.push_back(watch.seen_us - before); continue; }
        if (i < 3) continue;
        calls.push_back(after - before); starts.push_back(watch.seen_us - before); wholes.push_back(end - watch.seen_us);
        // the second call while the first graph runs
        CHECK(cudaGraphLaunch(exec, stream));
        const double a = now_us();
        CHECK(cudaGraphLaunch(exec, stream));
        busy_calls.push_back(now_us() - a);
        CHECK(cudaStreamSynchronize(stream));
      }
      const char* kind = branched ? "two_streams" : "line";
      char name[64];
      std::snprintf(name, sizeof name, "graph_call_%s", kind); row(out, name, nodes, calls);
      std::snprintf(name, sizeof name, "graph_call_busy_%s", kind); row(out, name, nodes, busy_calls);
      std::snprintf(name, sizeof name, "graph_to_start_%s", kind); row(out, name, nodes, starts);
      std::snprintf(name, sizeof name, "graph_first_to_start_%s", kind); row(out, name, nodes, first);
      std::snprintf(name, sizeof name, "graph_start_to_end_%s", kind); row(out, name, nodes, wholes);
      CHECK(cudaGraphExecDestroy(exec));
      CHECK(cudaGraphDestroy(graph));
    }
  }
  {  // a kernel alone and a line of plain launches, for the period of nodes
    cudaEvent_t a, b; CHECK(cudaEventCreate(&a)); CHECK(cudaEventCreate(&b));
    std::vector<double> periods;
    for (int i = 0; i < rounds; ++i) {
      CHECK(cudaEventRecord(a, stream));
      for (int k = 0; k < 500; ++k) flagged<<<1, 1, 0, stream>>>(nullptr, 0, cycles, Params{});
      CHECK(cudaEventRecord(b, stream));
      CHECK(cudaStreamSynchronize(stream));
      float ms = 0; CHECK(cudaEventElapsedTime(&ms, a, b));
      periods.push_back(ms * 1e3 / 500);
    }
    row(out, "launch_period", 500, periods);
  }
  std::fclose(out);
  return 0;
}
