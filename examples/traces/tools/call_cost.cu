// What a call costs the host: the fastest tenth of short bursts, in ns per call. Alone, and under
// `foretrace collect -q -o out.ftr -- ./call_cost`.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda.h>
#include <cuda_runtime.h>
__global__ void nothing(int* p) { if (p != nullptr && threadIdx.x > 1000) *p = 1; }
template <class F> double ns(F f, int calls, int bursts, cudaStream_t s) {
  std::vector<double> t;
  for (int b = 0; b < bursts; ++b) { cudaStreamSynchronize(s); const auto x = std::chrono::steady_clock::now(); for (int i = 0; i < calls; ++i) f(); const auto y = std::chrono::steady_clock::now(); t.push_back(std::chrono::duration<double, std::nano>(y - x).count() / calls); }
  std::sort(t.begin(), t.end()); return t[t.size() / 10];
}
int main() {
  int device = 0; cudaStream_t s; cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking); cudaEvent_t e; cudaEventCreateWithFlags(&e, cudaEventDisableTiming); int* p; cudaMalloc(&p, 1 << 20); int* h; cudaMallocHost(&h, 1 << 20);
  nothing<<<1, 32, 0, s>>>(p); cudaDeviceSynchronize();
  for (int i = 0; i < 3000; ++i) nothing<<<1, 32, 0, s>>>(p); cudaDeviceSynchronize();
  CUcontext c; cuCtxGetCurrent(&c); CUfunction f; cudaGetFuncBySymbol(&f, reinterpret_cast<const void*>(nothing)); void* args[] = {&p};
  const double query = ns([&] { cudaGetDevice(&device); }, 200, 2000, s), error = ns([&] { cudaGetLastError(); }, 200, 1000, s), launch = ns([&] { nothing<<<1, 32, 0, s>>>(p); }, 100, 1500, s), driver = ns([&] { cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, s, args, nullptr); }, 100, 1500, s),
    record = ns([&] { cudaEventRecord(e, s); }, 50, 1000, s), wait = ns([&] { cudaStreamWaitEvent(s, e, 0); }, 50, 1000, s), copy = ns([&] { cudaMemcpyAsync(p, h, 4, cudaMemcpyHostToDevice, s); }, 50, 1000, s), sync = ns([&] { cudaStreamSynchronize(s); }, 50, 1000, s),
    torch = ns([&] { for (int i = 0; i < 12; ++i) cudaGetDevice(&device); cudaGetLastError(); nothing<<<1, 32, 0, s>>>(p); }, 40, 1500, s);
  std::printf("query %6.0f error %6.0f launch %6.0f driver %6.0f record %6.0f wait %6.0f copy %6.0f sync %6.0f torch-like %6.0f\n", query, error, launch, driver, record, wait, copy, sync, torch); std::fflush(stdout); std::_Exit(0);
}
