// How many data loader workers would a device four times as fast need? Loads a trace once and asks
// several what-ifs of it.
#include <array>
#include <cstdio>
#include <string>

#include <foretrace/driver/load.h>
#include <foretrace/driver/predict.h>
#include <foretrace/driver/what_if.h>

namespace {

double ms(std::int64_t ns) { return static_cast<double>(ns) * 1e-6; }

int fail(const foretrace::Error& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: loader_workers TRACE\n");
    return 2;
  }
  // Reading and building the graph is the slow part; everything after it takes milliseconds.
  const auto recording = load(argv[1]);
  if (!recording.ok()) return fail(recording.error());

  const auto replay = foretrace::replay(*recording);
  if (!replay.ok()) return fail(replay.error());
  std::printf("step %.2f ms measured, %.2f ms simulated\n", ms(replay->measured_answer.step_ns),
              ms(replay->run.answer.step_ns));

  const auto faster = check_what_if({"scale", {{"select", "resource=device"}, {"factor", "0.25"}}});
  if (!faster.ok()) return fail(faster.error());
  for (const int workers : {1, 2, 4}) {
    const auto loader =
        check_what_if({"data_loader_workers", {{"workers", std::to_string(workers)}}});
    if (!loader.ok()) return fail(loader.error());
    const std::array<WhatIf, 2> stack = {*faster, *loader};
    const auto prediction = predict(*recording, stack);
    if (!prediction.ok()) return fail(prediction.error());
    std::printf("%d workers: step %.2f ms, between %.2f and %.2f\n", workers,
                ms(prediction->run.answer.step_ns), ms(prediction->low_ns),
                ms(prediction->high_ns));
  }
}
