#include "models/jobs/program/graphs/unfolded_graph.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "models/hardware/catalogue/accelerator.h"
#include "models/jobs/program/graphs/pipeline_graph.h"
#include "sim/engine/pull/pull.h"
#include "sim/graph/validate.h"
#include "tests/models/jobs/program/selene_job.h"

using foretrace::build_program;
using foretrace::find_schedule;
using foretrace::Jitter;
using foretrace::Job;
using foretrace::pipeline_graph;
using foretrace::pipeline_topology;
using foretrace::simulate;
using foretrace::unfolded_graph;
using foretrace::test::job_of_64;
using foretrace::test::JobParts;
using foretrace::test::selene;

namespace {

std::int64_t folded_ns(const Job& job) {
  const auto program = *build_program(job);
  const auto topology = pipeline_topology(*job.schedule, job.shape(), !job.framework->sends_block,
                                          program.step.times.has_launches());
  REQUIRE(topology.ok());
  return simulate(pipeline_graph(*topology, program.step)).span_ns;
}

std::int64_t unfolded_ns(const Job& job, const Jitter& jitter) {
  const auto graph = unfolded_graph(job, *build_program(job), jitter);
  REQUIRE_MESSAGE(graph.ok(), (graph.ok() ? "" : graph.error().message));
  return simulate(*graph).span_ns;
}

}  // namespace

TEST_CASE("unfolded step: without jitter it takes as long as the folded one") {
  for (const char* const framework : {"megatron_2022", "megatron_core"}) {
    const JobParts given = selene("gpt_22b", framework);
    for (const char* const schedule : {"1f1b", "interleaved", "zero_bubble_h1", "dual_pipe_v"}) {
      CAPTURE(framework);
      CAPTURE(schedule);
      Job job = job_of_64(given);
      job.schedule = *find_schedule(schedule);
      job.chunks = std::max(1U, job.schedule->least_chunks);
      CHECK(unfolded_ns(job, {}) == folded_ns(job));
      job.plan.tensor = 1;
      job.plan.sequence = false;
      CHECK(unfolded_ns(job, {}) == folded_ns(job));
    }
  }
}

TEST_CASE("unfolded step: every rank has its lanes, and groups meet") {
  const JobParts given = selene("gpt_22b", "megatron_core");
  const Job job = job_of_64(given);
  const auto graph = unfolded_graph(job, *build_program(job), {});
  REQUIRE(graph.ok());
  CHECK(validate(*graph).ok());
  // 64 ranks x (computation, the host and what the device has behind it, two ways to send), 8 tensor
  // groups, 32 meetings of copies and one of all
  CHECK(graph->context().lanes.size() == 64 * 5 + 8 + 32 + 1);
  CHECK(graph->context().rank_classes.size() == 64);
}

TEST_CASE("unfolded step: jitter only makes it longer, by a seed, and groups make it worse") {
  const JobParts given = selene("gpt_22b", "megatron_core");
  Job job = job_of_64(given);
  const std::int64_t even = unfolded_ns(job, {});
  const std::int64_t some = unfolded_ns(job, {0, 0.05, 1});
  CHECK(some > even);
  CHECK(some == unfolded_ns(job, {0, 0.05, 1}));
  CHECK(some != unfolded_ns(job, {0, 0.05, 2}));
  CHECK(unfolded_ns(job, {0, 0.1, 1}) > some);
  // The expected largest of eight normal numbers lies 1.42 deviations above their mean: at every
  // meeting the group waits for it.
  CHECK(static_cast<double>(some) / static_cast<double>(even) > 1 + 0.05 * 1.1);
  // Slow ranks hold all others up: the slowest of 64 is 2.4 deviations above the mean (largest of
  // four numbers' sum: fewer).
  const double slow =
      static_cast<double>(unfolded_ns(job, {0.02, 0, 1})) / static_cast<double>(even);
  CHECK(slow > 1.02);
  CHECK(slow < 1.08);
}

TEST_CASE("unfolded step: more tasks than memory holds are refused") {
  const JobParts given = selene("gpt_22b", "megatron_core");
  Job job = job_of_64(given);
  job.plan.data = 4096;
  job.global_batch = 4096. * 4096;
  const auto graph = unfolded_graph(job, *build_program(job), {});
  REQUIRE_FALSE(graph.ok());
  CHECK(graph.error().message.find("every rank for itself takes about") != std::string::npos);
}
