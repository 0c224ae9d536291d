// How many plans of a large model are estimated per second, by formulas and event by event, and how
// long the step of a very large job takes.
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>

#include "apps/plans/plan_request.h"
#include "apps/plans/plan_search.h"
#include "models/jobs/figures/scenario_answer.h"
#include "models/jobs/program/graphs/pipeline_graph.h"
#include "models/jobs/program/graphs/unfolded_graph.h"
#include "models/jobs/scenario/scenario.h"
#include "sim/engine/event/event_driven.h"
#include "sim/engine/pull/pull.h"
#include "tests/bench/engine_ratios.h"

namespace foretrace::bench {
namespace {

constexpr const char* source_dir = FORETRACE_BENCH_SOURCE_DIR;

/// All plans of GPT-3 on 64 to 1,024 devices, as `foretrace plan` searches them.
void analytic(const Scenario& scenario, Ratios& out) {
  std::size_t tried = 0;
  const double begin = cpu_seconds();
  for (const std::uint32_t gpus : {64U, 512U, 1024U}) {
    const auto answer = search_plans({scenario, gpus, 1536, 5});
    tried += answer.ok() ? answer->tried : 0;
  }
  const double seconds = cpu_seconds() - begin;
  if (tried == 0) return;
  fmt::print(stderr, "plans by formulas: {} in {:.3f} s\n", tried, seconds);
  out.emplace_back("analytic_configs_per_s", static_cast<double>(tried) / seconds);
}

/// What jobs share: the blocks of a rank, and who waits for whom in a pipeline.
class Shared {
 public:
  const RankProgram& blocks(const Job& job) {
    const auto [found, is_new] = blocks_.try_emplace(job_of_blocks(job));
    if (is_new) found->second = lower_blocks(job);
    return found->second;
  }
  const PipelineTopology* topology(const Job& job, const ScheduleShape& shape) {
    const std::tuple key{shape.stages, shape.micro_batches, shape.chunks};
    const auto found = topologies_.find(key);
    if (found != topologies_.end()) return &found->second;
    auto made = pipeline_topology(*job.schedule, shape, !job.framework->sends_block,
                                  job.framework->host_kernel_ns.typical > 0);
    return made.ok() ? &topologies_.emplace(key, *std::move(made)).first->second : nullptr;
  }

 private:
  std::map<Job, RankProgram> blocks_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, PipelineTopology> topologies_;
};

bool simulate(const Job& job, Shared& shared) {
  const RankProgram& blocks = shared.blocks(job);
  const RankProgram program =
      *laid_out(job, timed(job, blocks, settled_scale(job, blocks)), no_scale());
  const PipelineTopology* topology = shared.topology(job, job.shape());
  if (topology == nullptr) return false;
  const TaskGraph graph = pipeline_graph(*topology, program.step);
  Timeline timeline;
  simulate_event_driven(graph.topology(), graph.weights(), timeline);
  return timeline.span_ns > 0;
}

/// Plans of GPT-3 on 512 devices with a pipeline, every pass of every micro-batch an event; equal
/// ranks are one.
void event_driven(const Scenario& scenario, Ratios& out) {
  Job job = scenario.job;
  job.model = &scenario.model->transformer;
  job.cluster = scenario.cluster.get();
  job.framework = scenario.framework.get();
  job.schedule = *find_schedule("1f1b");
  job.global_batch = 1536;
  constexpr std::uint32_t gpus = 512;
  Shared shared;
  std::size_t simulated = 0;
  const double begin = cpu_seconds();
  for (const std::uint32_t tensor : {1U, 2U, 4U, 8U}) {
    for (const std::uint32_t pipeline : {2U, 4U, 8U, 16U, 32U, 64U}) {
      if (gpus % (tensor * pipeline) != 0) continue;
      for (const double micro : {1., 2., 4., 8.}) {
        for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
          for (const Sharding sharding : {Sharding::none, Sharding::optimizer}) {
            job.plan = {};
            job.plan.tensor = tensor;
            job.plan.sequence = tensor > 1;
            job.plan.pipeline = pipeline;
            job.plan.data = gpus / (tensor * pipeline);
            job.plan.sharding = sharding;
            job.micro_batch = micro;
            job.recompute = recompute;
            if (!check_job(job).ok()) continue;
            simulated += simulate(job, shared) ? 1 : 0;
          }
        }
      }
    }
  }
  const double seconds = cpu_seconds() - begin;
  if (simulated == 0) return;
  fmt::print(stderr, "plans event by event: {} in {:.3f} s\n", simulated, seconds);
  out.emplace_back("event_llm_configs_per_s", static_cast<double>(simulated) / seconds);
}

/// Llama 3 405B on 16,384 devices from its file to the answer, with range and timeline.
void large_step(const CataloguePtr& known, Ratios& out) {
  const auto begin = std::chrono::steady_clock::now();
  const auto scenario = read_scenario_of_alike_ranks(
      *known, std::string(source_dir) + "/configs/scenarios/llama3_405b_16384.json");
  if (!scenario.ok() || !answer_scenario(*scenario).ok()) return;
  out.emplace_back("step_16384_folded_s",
                   std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

double peak_gib() {
  rusage usage{};
  static_cast<void>(getrusage(RUSAGE_SELF, &usage));
  return static_cast<double>(usage.ru_maxrss) / (1 << 20);  // KiB
}

/// The same job with every rank for itself and times of its own: built and simulated.
void unfolded_step(const CataloguePtr& known, Ratios& out) {
  const auto begin = std::chrono::steady_clock::now();
  const auto scenario = read_scenario_of_alike_ranks(
      *known, std::string(source_dir) + "/configs/scenarios/llama3_405b_16384.json");
  if (!scenario.ok()) return;
  const auto program = build_program(scenario->job);
  if (!program.ok()) return;
  const auto graph = unfolded_graph(scenario->job, *program, {0.01, 0.02, 1});
  if (!graph.ok()) return;
  const Timeline timeline = simulate(*graph);
  fmt::print(stderr, "unfolded step: {} tasks, {:.3f} s with jitter, peak {:.1f} GiB\n",
             graph->size(), static_cast<double>(timeline.span_ns) * 1e-9, peak_gib());
  out.emplace_back("step_16384_jitter_s",
                   std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

}  // namespace

void plan_ratios(Ratios& out) {
  auto read = Catalogue::read(std::string(source_dir) + "/configs");
  if (!read.ok()) return;
  const auto known = std::make_shared<const Catalogue>(*std::move(read));
  const auto scenario = scenario_of(*known, {"gpt3_175b", "selene", "megatron_2022", "fp16", 2048});
  if (!scenario.ok()) {
    fmt::print(stderr, "plans: {}\n", scenario.error().message);
    return;
  }
  analytic(*scenario, out);
  event_driven(*scenario, out);
  large_step(known, out);
  unfolded_step(known, out);
}

}  // namespace foretrace::bench
