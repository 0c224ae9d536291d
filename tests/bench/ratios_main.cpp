// foretrace_ratios [FILE]: measures every ratio, prints the table, writes name -> value as JSON.
#include <array>
#include <cstdio>
#include <fstream>
#include <string_view>

#include <fmt/format.h>

#include "tests/bench/engine_ratios.h"

namespace {

using foretrace::bench::Ratios;

struct Target {
  std::string_view name;
  double value = 0;
  bool at_most = false;
  std::string_view what;
};
constexpr std::array targets = {
    Target{"ingest_vs_simdjson_ondemand", 2.2, false, "times as fast, plain JSON"},
    Target{"ingest_gz_vs_plain", 0.7, false, "of the plain speed, gzip"},
    Target{"ftr_vs_gz_json", 10, false, "times as fast to reopen, wall time"},
    Target{"ftr_size_vs_gz_json", 1, true, "of its size"},
    Target{"pull_vs_simgrid", 500, false, "times as fast, equal makespan"},
    Target{"event_vs_simgrid", 60, false, "times as fast, equal makespan"},
    Target{"critical_path_vs_networkx", 100, false, "times as fast, equal length"},
    Target{"batched_vs_single_pull", 3.2, false, "times as fast per variant"},
    Target{"topology_bytes_per_task", 32, true, "bytes"},
    Target{"whatif_rerun_180k_ms", 10, true, "ms CPU, durations change"},
    Target{"whatif_structural_180k_ms", 10, true, "ms CPU, tasks are removed"},
    Target{"allocator_million_events_per_s", 10, false,
           "million requests and frees per s and core"},
    Target{"predict_us", 40, true, "us CPU per 10,000 tasks, every duration changes"},
    Target{"predict_kernels_us", 0, true, "us CPU per 10,000 tasks, kernels change"},
    Target{"predict_copies_us", 20, true, "us CPU per 10,000 tasks, under a tenth changes"},
    Target{"analytic_configs_per_s", 100000, false, "plans of GPT-3 per second and core"},
    Target{"event_llm_configs_per_s", 1000, false, "plans of GPT-3 per second and core"},
    Target{"step_16384_folded_s", 2, true, "s, one step of 16,384 devices"},
    Target{"step_16384_jitter_s", 60, true, "s, the same with each rank for itself"},
    Target{"sweep_points_per_s", 0, false, "plans per second and core, into the store"},
    Target{"sweep_vs_bare_evaluation", 0.8, false, "of the speed without a store"},
    Target{"whatif_rerun_real_ms", 0, true, "ms CPU"},
    Target{"whatif_structural_real_ms", 0, true, "ms CPU"},
};

/// The target of a row; rows on real data ("..._real", "..._o18_real") have that of their synthetic
/// twin.
[[nodiscard]] const Target* target_of(std::string_view name) {
  constexpr std::string_view real = "_real";
  const bool is_real = name.size() > real.size() && name.substr(name.size() - real.size()) == real;
  for (const Target& target : targets) {
    const bool twin = is_real && name.size() > target.name.size() &&
                      name.substr(0, target.name.size()) == target.name &&
                      name[target.name.size()] == '_';
    if (target.name == name || twin) {
      return &target;
    }
  }
  return nullptr;
}

void print(const Ratios& ratios) {
  fmt::print("{:<34} {:>10} {:>9}\n", "ratio", "measured", "target");
  for (const auto& [name, value] : ratios) {
    const Target* const target = target_of(name);
    if (target == nullptr || target->value == 0) {
      fmt::print("{:<34} {:>10.2f} {:>9}   {}\n", name, value, "-",
                 target == nullptr ? "" : target->what);
      continue;
    }
    const bool met = target->at_most ? value <= target->value : value >= target->value;
    fmt::print("{:<34} {:>10.2f} {:>2} {:>6}   {}{}\n", name, value,
               target->at_most ? "<=" : ">=", target->value, target->what, met ? "" : "   MISSED");
  }
}

[[nodiscard]] bool write(const Ratios& ratios, const char* path) {
  std::ofstream out(path);
  out << "{\n";
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    out << fmt::format("  \"{}\": {:.4f}{}\n", ratios[i].first, ratios[i].second,
                       i + 1 == ratios.size() ? "" : ",");
  }
  out << "}\n";
  return out.good();
}

}  // namespace

int main(int argc, char** argv) {
  Ratios ratios;
  foretrace::bench::ingest_ratios(ratios);
  foretrace::bench::ftr_ratios(ratios);
  foretrace::bench::engine_ratios(ratios);
  foretrace::bench::what_if_ratios(ratios);
  foretrace::bench::memory_ratios(ratios);
  foretrace::bench::plan_ratios(ratios);
  foretrace::bench::sweep_ratios(ratios);
  print(ratios);
  if (argc > 1 && !write(ratios, argv[1])) {
    fmt::print(stderr, "{}: cannot be written\n", argv[1]);
    return 1;
  }
  return 0;
}
