// Which of two waiting jobs should get which of two free devices? A scheduler asks the predictor.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include <foretrace/predictor.h>

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: place_jobs TRACE [TRACE]\n"), 2;
  const auto fail = [](const foretrace::Error& error) {
    return std::fprintf(stderr, "%s\n", error.message.c_str()), 1;
  };
  auto catalogue = foretrace::Catalogue::read(FORETRACE_CONFIGS);
  if (!catalogue.ok()) return fail(catalogue.error());
  const foretrace::PredictorOptions options{
      .catalogue = std::make_shared<const foretrace::Catalogue>(*std::move(catalogue))};

  constexpr const char* free[] = {"a100_sxm_80gb", "t4"};
  double speedup[2][2];  // of each job on each device, over its recorded run
  for (int job = 0; job < 2; ++job) {
    const auto predictor = foretrace::Predictor::load(argv[std::min(job + 1, argc - 1)], options);
    if (!predictor.ok()) return fail(predictor.error());
    for (int device = 0; device < 2; ++device) {
      const auto step = predictor->predict({.accelerator = free[device], .accelerators = 1});
      if (!step.ok()) return fail(step.error());
      speedup[job][device] = step->fits ? step->speedup(predictor->step_ns()) : 0;
    }
    std::printf("job %d: %.2f on %s, %.2f on %s\n", job, speedup[job][0], free[0], speedup[job][1],
                free[1]);
  }
  const bool straight = speedup[0][0] + speedup[1][1] >= speedup[0][1] + speedup[1][0];
  std::printf("job 0 gets the %s, job 1 the %s\n", free[!straight], free[straight]);
}
