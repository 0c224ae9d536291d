// How long a scheduler waits for a prediction, and how much of its time a sweep computes.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "apps/predictor/predictor.h"
#include "apps/sweep/points/evaluate.h"
#include "apps/sweep/points/judge.h"
#include "apps/sweep/run.h"
#include "tests/bench/engine_ratios.h"

namespace foretrace::bench {
namespace {

constexpr const char* source_dir = FORETRACE_BENCH_SOURCE_DIR;

CataloguePtr configs() {
  auto read = Catalogue::read(std::string(source_dir) + "/configs");
  return read.ok() ? std::make_shared<const Catalogue>(*std::move(read)) : nullptr;
}

/// CPU time of one question in us per 10,000 tasks; every question has other factors.
void predictions(const CataloguePtr& known, Ratios& out) {
  const auto job =
      Predictor::load(std::string(source_dir) + "/examples/traces/demo_generated_cnn.json.gz",
                      {.catalogue = known});
  if (!job.ok()) {
    fmt::print(stderr, "predict_us: {}\n", job.error().message);
    return;
  }
  int asked = 0;
  std::int64_t sum_ns = 0;
  const auto ask = [&](JobPlacement placement) {
    const auto step = job->predict(placement);
    sum_ns += step.ok() ? step->step_ns : 0;
  };
  const auto factor = [&] { return 0.5 + 0.001 * (++asked % 997); };
  const std::vector<double> seconds =
      median_seconds({[&] {
                        const double some = factor();
                        ask({.compute = some, .copies = some, .communication = some, .host = some});
                      },
                      [&] { ask({.compute = factor()}); }, [&] { ask({.copies = factor()}); }},
                     51);
  const double per_ten_thousand = 1e4 / static_cast<double>(job->tasks()) * 1e6;
  fmt::print(stderr, "predict: {} tasks, {} questions\n", job->tasks(), asked);
  out.emplace_back("predict_us", seconds[0] * per_ten_thousand);
  out.emplace_back("predict_kernels_us", seconds[1] * per_ten_thousand);
  out.emplace_back("predict_copies_us", seconds[2] * per_ten_thousand);
}

double wall_seconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Points of the plans of GPT-3 on one thread: by a sweep with its store, and alone.
void points(const CataloguePtr& known, Ratios& out) {
  const auto sweep =
      sweeping::read_sweep(std::string(source_dir) + "/examples/recipes/sweeps/gpt3_512.json");
  if (!sweep.ok()) {
    fmt::print(stderr, "sweep_points_per_s: {}\n", sweep.error().message);
    return;
  }
  const auto folder = std::filesystem::temp_directory_path() / "foretrace_bench_sweep";
  std::filesystem::remove_all(folder);
  std::uint64_t computed = 0;
  const double whole = wall_seconds([&] {
    const auto run = sweeping::run_sweep(*sweep, folder.string(),
                                         {.catalogue = known, .threads = 1, .version = "bench"});
    computed = run.ok() ? run->computed : 0;
  });
  std::filesystem::remove_all(folder);
  const double bare = wall_seconds([&] {
    const auto evaluation = sweeping::prepare(*sweep, known);
    if (!evaluation.ok()) return;
    const auto evaluator = (*evaluation)->evaluator();
    sweeping::Judge judge(*sweep);
    std::vector<sweeping::PointResult> some(1);
    std::string reason;
    for (std::uint64_t point = 0; point < sweep->space.size(); ++point) {
      some[0] = {.point = point, .where = std::vector<double>(sweep->axes().size())};
      sweep->space.at(point, some[0].where);
      if (judge.is_wanted(some[0].where, reason)) evaluator->evaluate(some);
    }
  });
  if (computed == 0 || !(bare > 0)) return;
  fmt::print(stderr, "sweep: {} points, {:.2f} s, {:.2f} s without the store\n", computed, whole,
             bare);
  out.emplace_back("sweep_points_per_s", static_cast<double>(computed) / whole);
  out.emplace_back("sweep_vs_bare_evaluation", bare / whole);
}

}  // namespace

void sweep_ratios(Ratios& out) {
  const CataloguePtr known = configs();
  if (known == nullptr) return;
  predictions(known, out);
  points(known, out);
}

}  // namespace foretrace::bench
