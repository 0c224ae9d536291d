#include "tests/bench/measure.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

namespace foretrace::bench {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double median(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

std::vector<double> median_seconds(const std::vector<std::function<void()>>& runs, int rounds) {
  constexpr double turn_seconds = 0.005;
  constexpr int most_calls = 100;
  std::vector<std::vector<double>> seconds(runs.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const double start = cpu_seconds();
      int calls = 0;
      do {
        runs[i]();
        ++calls;
      } while (calls < most_calls && cpu_seconds() - start < turn_seconds);
      seconds[i].push_back((cpu_seconds() - start) / calls);
    }
  }
  std::vector<double> medians;
  medians.reserve(seconds.size());
  for (auto& values : seconds) {
    medians.push_back(median(std::move(values)));
  }
  return medians;
}

std::string output_of(const std::string& command) {
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) {
    return "";
  }
  std::string text;
  std::array<char, 4096> piece{};
  while (true) {
    const std::size_t got = std::fread(piece.data(), 1, piece.size(), pipe);
    if (got == 0) {
      break;
    }
    text.append(piece.data(), got);
  }
  return pclose(pipe) == 0 ? text : "";
}

}  // namespace foretrace::bench
