// Launch latency, cost of calls, queue depth; medians in CSV.
#include <cuda_runtime.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
#define OK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { std::fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e_)); std::exit(3); } } while (0)
struct Big { char b[3000]; };
__global__ void none() {}
__global__ void big(Big x) { if (x.b[0] == 'q' && x.b[2999] == 'z') asm("trap;"); }
__global__ void spin_ns(unsigned long long ns) { unsigned long long t, u; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)); do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(u)); while (u - t < ns); }
__global__ void flag(volatile int* p) { *p = 1; __threadfence_system(); }
using C = std::chrono::steady_clock;
static double us(C::time_point a, C::time_point b) { return std::chrono::duration<double, std::micro>(b - a).count(); }
static double median(std::vector<double> v) { std::sort(v.begin(), v.end()); return v[v.size() / 2]; }
static void row(const char* what, double p, std::vector<double> v) { std::sort(v.begin(), v.end()); std::printf("%s,%g,%.3f,%.3f,%.3f\n", what, p, v[v.size() / 10], v[v.size() / 2], v[v.size() * 9 / 10]); }
int main() {
  std::printf("what,parameter,p10_us,p50_us,p90_us\n");
  cudaStream_t s, s2; OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking)); OK(cudaStreamCreateWithFlags(&s2, cudaStreamNonBlocking));
  cudaEvent_t e, t0, t1; OK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming)); OK(cudaEventCreate(&t0)); OK(cudaEventCreate(&t1));
  for (int i = 0; i < 200; ++i) none<<<1, 1, 0, s>>>(); OK(cudaDeviceSynchronize());
  auto each = [&](const char* what, double p, auto&& call, bool drain, int reps = 500) { std::vector<double> v; for (int i = 0; i < reps; ++i) { auto a = C::now(); call(); auto b = C::now(); v.push_back(us(a, b)); if (drain) OK(cudaDeviceSynchronize()); } OK(cudaDeviceSynchronize()); row(what, p, v); };
  each("call_launch_idle", 0, [&] { none<<<1, 1, 0, s>>>(); }, true);
  each("call_launch_busy", 0, [&] { none<<<1, 1, 0, s>>>(); }, false);
  Big b{}; each("call_launch_3000_bytes", 3000, [&] { big<<<1, 1, 0, s>>>(b); }, true);
  each("call_event_record", 0, [&] { OK(cudaEventRecord(e, s)); }, true);
  each("call_stream_wait_event", 0, [&] { OK(cudaStreamWaitEvent(s2, e, 0)); }, true);
  each("call_event_query", 0, [&] { cudaEventQuery(e); }, true);
  each("call_stream_synchronize_idle", 0, [&] { OK(cudaStreamSynchronize(s)); }, false);
  each("call_device_synchronize_idle", 0, [&] { OK(cudaDeviceSynchronize()); }, false);
  each("launch_to_synchronize_null_kernel", 0, [&] { none<<<1, 1, 0, s>>>(); OK(cudaStreamSynchronize(s)); }, false);
  // kernel to kernel on one stream, by events around many
  for (int n : {100, 900}) { std::vector<double> v; for (int r = 0; r < 50; ++r) { spin_ns<<<1, 1, 0, s>>>(6000000); OK(cudaEventRecord(t0, s)); for (int i = 0; i < n; ++i) none<<<1, 1, 0, s>>>(); OK(cudaEventRecord(t1, s)); OK(cudaStreamSynchronize(s)); float ms; OK(cudaEventElapsedTime(&ms, t0, t1)); v.push_back(ms * 1e3 / n); } row("null_kernel_period_on_device", n, v); }
  // alternate streams by events
  { std::vector<double> v; for (int r = 0; r < 50; ++r) { spin_ns<<<1, 1, 0, s>>>(6000000); OK(cudaEventRecord(t0, s)); for (int i = 0; i < 100; ++i) { none<<<1, 1, 0, s>>>(); OK(cudaEventRecord(e, s)); OK(cudaStreamWaitEvent(s2, e, 0)); none<<<1, 1, 0, s2>>>(); OK(cudaEventRecord(e, s2)); OK(cudaStreamWaitEvent(s, e, 0)); } OK(cudaEventRecord(t1, s)); OK(cudaStreamSynchronize(s)); float ms; OK(cudaEventElapsedTime(&ms, t0, t1)); v.push_back(ms * 1e3 / 200); } row("null_kernel_period_across_streams", 100, v); }
  // queue depth: how many launches until a call takes long behind a kernel of 200 ms
  for (int kind = 0; kind < 5; ++kind) { for (int args = 0; args < 2; ++args) { if (args && kind) continue;
    void *d, *h; OK(cudaMalloc(&d, 1 << 20)); OK(cudaMallocHost(&h, 1 << 20));
    spin_ns<<<1, 1, 0, s>>>(200000000ull); int n = 0; for (; n < 200000; ++n) { auto a = C::now();
      if (kind == 0) { if (args) big<<<1, 1, 0, s>>>(b); else none<<<1, 1, 0, s>>>(); }
      else if (kind == 1) OK(cudaMemcpyAsync(d, h, 1 << 16, cudaMemcpyHostToDevice, s));
      else if (kind == 2) OK(cudaMemsetAsync(d, 0, 1 << 16, s));
      else if (kind == 3) OK(cudaEventRecord(e, s));
      else none<<<1, 1, 0, (n & 1) ? s : s2>>>();
      if (us(a, C::now()) > 5000) break; }
    OK(cudaDeviceSynchronize()); const char* names[] = {"queue_depth_kernels", "queue_depth_copies", "queue_depth_sets", "queue_depth_events", "queue_depth_two_streams"};
    std::printf("%s,%d,%d,%d,%d\n", names[kind], args ? 3000 : 0, n, n, n); OK(cudaFree(d)); OK(cudaFreeHost(h)); } }
  // copies by size and kind
  const size_t most = size_t(1) << 30; char *d, *d2, *pin, *pag = static_cast<char*>(std::malloc(most)); std::memset(pag, 1, most);
  OK(cudaMalloc(&d, most)); OK(cudaMalloc(&d2, most)); OK(cudaMallocHost(&pin, most)); std::memset(pin, 1, most);
  for (size_t bytes = 4; bytes <= most; bytes *= 4) { const int reps = bytes > (64u << 20) ? 5 : bytes > (1u << 20) ? 15 : 60;
    auto device = [&](const char* what, auto&& call) { std::vector<double> v; for (int i = 0; i < reps; ++i) { OK(cudaEventRecord(t0, s)); call(); OK(cudaEventRecord(t1, s)); OK(cudaStreamSynchronize(s)); float ms; OK(cudaEventElapsedTime(&ms, t0, t1)); v.push_back(ms * 1e3); } row(what, double(bytes), v); };
    device("copy_h2d_pinned", [&] { OK(cudaMemcpyAsync(d, pin, bytes, cudaMemcpyHostToDevice, s)); });
    device("copy_d2h_pinned", [&] { OK(cudaMemcpyAsync(pin, d, bytes, cudaMemcpyDeviceToHost, s)); });
    device("copy_d2d", [&] { OK(cudaMemcpyAsync(d2, d, bytes, cudaMemcpyDeviceToDevice, s)); });
    device("set_device", [&] { OK(cudaMemsetAsync(d, 0, bytes, s)); });
    each("copy_h2d_pageable_host_time", double(bytes), [&] { OK(cudaMemcpy(d, pag, bytes, cudaMemcpyHostToDevice)); }, false, reps);
    each("copy_d2h_pageable_host_time", double(bytes), [&] { OK(cudaMemcpy(pag, d, bytes, cudaMemcpyDeviceToHost)); }, false, reps);
    if (bytes >= (1u << 20)) { std::vector<double> v; for (int i = 0; i < reps; ++i) { OK(cudaEventRecord(t0, s)); OK(cudaStreamWaitEvent(s2, t0, 0)); OK(cudaMemcpyAsync(d, pin, bytes, cudaMemcpyHostToDevice, s)); OK(cudaMemcpyAsync(pin, d2, bytes, cudaMemcpyDeviceToHost, s2)); OK(cudaEventRecord(e, s2)); OK(cudaStreamWaitEvent(s, e, 0)); OK(cudaEventRecord(t1, s)); OK(cudaStreamSynchronize(s)); float ms; OK(cudaEventElapsedTime(&ms, t0, t1)); v.push_back(ms * 1e3); } row("copy_h2d_and_d2h_pinned", double(bytes), v); } }
  for (size_t bytes = 4096; bytes <= (size_t(4) << 30); bytes *= 16) { each("call_malloc_free", double(bytes), [&] { void* p; OK(cudaMalloc(&p, bytes)); OK(cudaFree(p)); }, true, 20); each("call_malloc_host_free", double(std::min(bytes, most)), [&] { void* p; OK(cudaMallocHost(&p, std::min(bytes, most))); OK(cudaFreeHost(p)); }, true, 4); }
}
