// How many data loader workers would a device four times as fast need? Opens a trace once and asks
// several what-ifs of it.
#include <cstdio>

#include <foretrace/session.h>
#include <foretrace/what_ifs.h>

namespace with = foretrace::with;

namespace {

double ms(std::int64_t ns) { return static_cast<double>(ns) * 1e-6; }

int fail(const foretrace::Error& error) {
  return std::fprintf(stderr, "%s\n", error.message.c_str()), 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: loader_workers TRACE\n"), 2;
  // Reading and building the graph is the slow part; everything after it takes milliseconds.
  const auto session = foretrace::open(argv[1]);
  if (!session.ok()) return fail(session.error());
  std::printf("step %.2f ms measured, %.2f ms simulated\n",
              ms(session->replay().measured_answer.step_ns), ms(session->step_ns()));
  for (const int workers : {1, 2, 4}) {
    const auto answer = session->ask({with::scale({.factor = 0.25, .select = "resource=device"}),
                                      with::data_loader_workers({.workers = workers})});
    if (!answer.ok()) return fail(answer.error());
    std::printf("%d workers: step %.2f ms, between %.2f and %.2f\n", workers, ms(answer->step_ns()),
                ms(answer->low_ns()), ms(answer->high_ns()));
  }
}
