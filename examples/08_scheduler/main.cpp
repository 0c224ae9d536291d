// Which of two waiting jobs should get which of two free devices? A scheduler asks the predictor.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <foretrace/predictor.h>

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: place_jobs TRACE [TRACE]\n"), 2;
  const auto fail = [](const foretrace::Error& error) {
    return std::fprintf(stderr, "%s\n", error.message.c_str()), 1;
  };
  auto catalogue = foretrace::Catalogue::read(FORETRACE_CONFIGS);
  if (!catalogue.ok()) return fail(catalogue.error());
  const auto known = std::make_shared<const foretrace::Catalogue>(std::move(*catalogue));

  // Samples per second of each job on each device, over those of its recorded run.
  const std::array<std::string, 2> free = {"a100_sxm_80gb", "t4"};
  const std::array<std::uint32_t, 1> one = {1};
  std::array<std::vector<double>, 2> rate;
  for (int job = 0; job < 2; ++job) {
    const std::string trace = argv[std::min(job + 1, argc - 1)];
    const auto predictor = foretrace::Predictor::load(trace, {.catalogue = known});
    if (!predictor.ok()) return fail(predictor.error());
    auto rates = predictor->throughputs(free, one);
    if (!rates.ok()) return fail(rates.error());
    rate[job] = std::move(*rates);
    std::printf("job %d: %.2f on %s, %.2f on %s\n", job, rate[job][0], free[0].c_str(),
                rate[job][1], free[1].c_str());
  }
  const bool straight = rate[0][0] + rate[1][1] >= rate[0][1] + rate[1][0];
  std::printf("job 0 gets the %s, job 1 the %s\n", free[straight ? 0 : 1].c_str(),
              free[straight ? 1 : 0].c_str());
}
