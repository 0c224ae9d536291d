// Applies a what-if that is not part of the program to a trace.
#include <cstdio>

#include <foretrace/driver/load.h>
#include <foretrace/driver/predict.h>

namespace foretrace::what_ifs {
extern const WhatIfInfo byte_upload;
}

namespace {

int fail(const foretrace::Error& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: try_byte_upload TRACE\n");
    return 2;
  }
  const auto recording = load(argv[1]);
  if (!recording.ok()) return fail(recording.error());
  const foretrace::WhatIfInfo& info = foretrace::what_ifs::byte_upload;
  const auto values = foretrace::ParamValues::parse(info.name, info.params, {});
  if (!values.ok()) return fail(values.error());
  const WhatIf what_if{&info, *values};
  const auto prediction = predict(*recording, {&what_if, 1});
  if (!prediction.ok()) return fail(prediction.error());
  const auto replay = foretrace::replay(*recording);
  if (!replay.ok()) return fail(replay.error());
  std::printf("step %.3f ms now, %.3f ms with byte_upload (%.3f .. %.3f), %zu tasks changed\n",
              static_cast<double>(replay->run.answer.step_ns) * 1e-6,
              static_cast<double>(prediction->run.answer.step_ns) * 1e-6,
              static_cast<double>(prediction->low_ns) * 1e-6,
              static_cast<double>(prediction->high_ns) * 1e-6,
              prediction->applied.front().tasks_changed);
}
