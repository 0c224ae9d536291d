// Applies a what-if that is not part of the program to a trace.
#include <cstdio>

#include <foretrace/session.h>

namespace foretrace::what_ifs {
extern const WhatIfInfo byte_upload;
}

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: try_byte_upload TRACE\n"), 2;
  const auto fail = [](const foretrace::Error& error) {
    return std::fprintf(stderr, "%s\n", error.message.c_str()), 1;
  };
  const auto session = foretrace::open(argv[1]);
  if (!session.ok()) return fail(session.error());
  const foretrace::WhatIfInfo& info = foretrace::what_ifs::byte_upload;
  const auto values = foretrace::ParamValues::parse(info.name, info.params, {});
  if (!values.ok()) return fail(values.error());
  const foretrace::WhatIf what_if{&info, *values};
  const auto answer = session->ask({&what_if, 1});
  if (!answer.ok()) return fail(answer.error());
  const auto ms = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-6; };
  std::printf("step %.3f ms now, %.3f ms with byte_upload (%.3f .. %.3f), %zu tasks changed\n",
              ms(session->step_ns()), ms(answer->step_ns()), ms(answer->low_ns()),
              ms(answer->high_ns()), answer->prediction().applied.front().tasks_changed);
}
