// Laws of modelled jobs, on random ones.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "apps/plans/plan_estimates.h"
#include "models/jobs/figures/scenario_laws.h"
#include "models/jobs/program/estimate.h"
#include "models/jobs/program/job_figures.h"
#include "models/jobs/program/job_members.h"
#include "tests/laws/support/random_job.h"

namespace foretrace {
namespace {

TEST_CASE("jobs: a number gives the same job whatever was drawn before") {
  test::RandomJobs jobs;
  test::RandomJobs others;
  static_cast<void>(others.draw(5));
  for (const std::uint64_t number : {1U, 2U, 3U}) {
    CHECK(jobs.draw(number).text == others.draw(number).text);
  }
  CHECK(jobs.draw(4).text != jobs.draw(5).text);
}

// Counts what jobs have; a kind that no job has would be a law that looks at nothing.
TEST_CASE("jobs: every kind of job is drawn") {
  test::RandomJobs jobs;
  std::map<std::string, int> seen;
  for (std::uint64_t number = 0; number < test::law_jobs(400); ++number) {
    const test::RandomJob drawn = jobs.draw(number);
    const Job& job = drawn.scenario.job;
    const ParallelPlan& plan = job.plan;
    const auto count = [&seen](const std::string& kind, bool has) { seen[kind] += has ? 1 : 0; };
    count("data", plan.data > 1);
    count("tensor", plan.tensor > 1);
    count("pipeline", plan.pipeline > 1);
    count("context", plan.context > 1);
    count("expert", plan.expert > 1);
    count("whole experts", plan.tensor > 1 && plan.expert > 1 && plan.expert_tensor == 1);
    count("divided experts", plan.expert_tensor > 1);
    count("sequence", plan.sequence);
    count("shard size", plan.shard_size > 0);
    count("unbalanced context", plan.context > 1 && !plan.balances_context);
    count("chunks", job.chunks > 1);
    count("uneven stages", !job.stages.empty() && !job.has_own_ranks());
    count("own ranks", job.has_own_ranks());
    count("layered", job.model->layered != nullptr);
    count("grouped keys", job.model->kv_heads < job.model->heads);
    count("window", job.model->window > 0);
    count("tied", job.model->ties_embeddings);
    count("latent", job.model->latent.key_rank > 0);
    count("sparse", job.sparse_gradients.has_value());
    count("sums in switches", job.cluster->network.aggregation.trees > 0);
    count("tiers", !job.cluster->tier_network.tiers.empty());
    count("changed links", job.cluster->name.starts_with("changed"));
    count("exec model", job.cluster->accelerator.exec_model != nullptr);
    count("8 bit", job.precisions.layers_in_8_bit);
    for (int kind = 0; kind < 4; ++kind) {
      count("sharding " + std::to_string(kind), static_cast<int>(plan.sharding) == kind);
      count("recompute " + std::to_string(kind), static_cast<int>(job.recompute) == kind);
    }
    for (int kind = 0; kind < 3; ++kind) {
      count("context " + std::to_string(kind),
            plan.context > 1 && static_cast<int>(plan.context_kind) == kind);
      count("pass " + std::to_string(kind), static_cast<int>(job.pass) == kind);
    }
    for (const ScheduleInfo* schedule : schedules::all()) {
      count(std::string(schedule->name), job.schedule == schedule && plan.pipeline > 1);
    }
  }
  for (const auto& kind : seen) {
    CHECK_MESSAGE(kind.second >= 2, kind.first << ": " << kind.second);
  }
}

// Of two valid jobs: the first one with one member of the second at a time, where that is valid.
// So a cache that forgets a member of jobs is asked for both of its values.
std::vector<Job> mixed(const Job& first, const Job& second) {
  std::vector<Job> jobs = {first};
  const auto from = members_of(second);
  const auto mix = [&]<std::size_t Member>(std::integral_constant<std::size_t, Member> /*at*/) {
    Job job = first;
    std::get<Member>(members_of(job)) = std::get<Member>(from);
    if (job != first && check_job(job).ok()) jobs.push_back(std::move(job));
  };
  [&]<std::size_t... Members>(std::index_sequence<Members...> /*members*/) {
    (mix(std::integral_constant<std::size_t, Members>{}), ...);
  }
  (std::make_index_sequence<std::tuple_size_v<decltype(members_of(second))>>());
  return jobs;
}

// Which members of two jobs differ, in the order of members_of().
template <std::size_t... Members>
std::vector<bool> differing(const Job& first, const Job& second,
                            std::index_sequence<Members...> /*members*/) {
  const auto of_first = members_of(first);
  const auto of_second = members_of(second);
  return {(std::get<Members>(of_first) != std::get<Members>(of_second))...};
}

TEST_CASE("jobs: every member of a job is drawn, but those that no scenario states") {
  using Members = decltype(members_of(std::declval<const Job&>()));
  constexpr auto members = std::make_index_sequence<std::tuple_size_v<Members>>();
  test::RandomJobs jobs;
  const test::RandomJob first = jobs.draw(0);
  std::vector<int> differ(std::tuple_size_v<Members>);
  for (std::uint64_t number = 1; number < 200; ++number) {
    const test::RandomJob drawn = jobs.draw(number);
    const auto here = differing(first.scenario.job, drawn.scenario.job, members);
    for (std::size_t i = 0; i < here.size(); ++i) differ[i] += here[i] ? 1 : 0;
  }
  // The framework's: context_ring, tensor_pieces and async_tensor_backward.
  CHECK(std::count(differ.begin(), differ.end(), 0) == 3);
  const Job& job = first.scenario.job;
  CHECK(job.plan.context_ring == ParallelPlan{}.context_ring);
  CHECK(job.plan.tensor_pieces == ParallelPlan{}.tensor_pieces);
  CHECK(job.plan.async_tensor_backward == ParallelPlan{}.async_tensor_backward);
}

/// A member that is new does not compile until it is compared here.
bool is_same(const RankProgram& a, const RankProgram& b) {
  const auto& [actions, blocks, divided, order, intensity, tied, hidden, step] = a;
  return *actions == *b.actions && *blocks == *b.blocks && *divided == *b.divided &&
         order == b.order && intensity == b.attention_intensity && tied == b.tied_weights &&
         hidden == b.hidden_bytes && step.runs == b.step.runs;
}

TEST_CASE("jobs: what blocks are shared by does not decide about them") {
  test::RandomJobs jobs;
  for (std::uint64_t number = 0; number < test::law_jobs(300); ++number) {
    const test::RandomJob drawn = jobs.draw(number);
    const Job& job = drawn.scenario.job;
    CHECK_MESSAGE(is_same(lower_blocks(job), lower_blocks(job_of_blocks(job))), number);
  }
}

TEST_CASE("jobs: what is kept of others changes no estimate, and no amount") {
  test::RandomJobs jobs;
  PlanEstimates estimates;
  ScenarioCompletion completion;
  for (std::uint64_t number = 0; number < test::law_jobs(60); ++number) {
    const test::RandomJob first = jobs.draw(2 * number);
    const test::RandomJob second = jobs.draw(2 * number + 1);
    for (const Job& job : mixed(first.scenario.job, second.scenario.job)) {
      const auto kept = estimates.of(job);
      const auto fresh = estimate(job);
      REQUIRE(kept.ok() == fresh.ok());
      if (kept.ok()) CHECK_MESSAGE(*kept == *fresh, number);
      CHECK_MESSAGE(completion.amounts(job) == amounts_of(job), number);
    }
  }
}

TEST_CASE("jobs: a job that is written as a scenario is read as the same job") {
  test::RandomJobs jobs;
  for (std::uint64_t number = 0; number < test::law_jobs(400); ++number) {
    const test::RandomJob drawn = jobs.draw(number);
    const Job& job = drawn.scenario.job;
    const std::string text = scenario_text(job, drawn.names);
    const auto read = jobs.parsed(text);
    CHECK_MESSAGE(read.ok(), number << ": " << text << (read.ok() ? "" : read.error().message));
    if (read.ok()) CHECK_MESSAGE(read->job == job, number << ": " << text);
  }
}

TEST_CASE("jobs: no estimate breaks a law that answers are held to") {
  test::RandomJobs jobs;
  const std::uint64_t count = test::law_jobs(2000);
  std::uint64_t seen = 0;
  for (std::uint64_t number = 0; number < count; ++number) {
    CAPTURE(number);
    const test::RandomJob drawn = jobs.draw(number);
    const Job& job = drawn.scenario.job;
    const auto answer = estimate(job);
    if (!answer) continue;
    ++seen;
    CHECK_NOTHROW(expect_laws(job, *answer, amounts_of(job)));
  }
  CHECK(seen > count / 2);
}

TEST_CASE("jobs: a rank holds in 32 bit no less than in 16, but for the copy of its weights") {
  test::RandomJobs jobs;
  std::size_t seen = 0;
  for (std::uint64_t number = 0; number < test::law_jobs(400); ++number) {
    CAPTURE(number);
    // Its casts of 32-bit weights go with the 16-bit products.
    if (jobs.draw(number).scenario.framework->autocasts) continue;
    const auto memory_in = [&](const char* word) {
      Scenario scenario = jobs.draw(number).scenario;
      scenario.job.precisions = *precisions_of(word);
      std::vector<StageMemory> memory;
      auto complete = complete_scenario(std::move(scenario));
      if (!complete.ok()) return memory;
      if (auto answer = estimate(complete->job); answer.ok()) memory = std::move(answer->memory);
      return memory;
    };
    const std::vector<StageMemory> wide = memory_in("fp32");
    const std::vector<StageMemory> narrow = memory_in("bf16");
    if (wide.empty() || narrow.empty()) continue;
    ++seen;
    REQUIRE(wide.size() == narrow.size());
    for (std::size_t stage = 0; stage < wide.size(); ++stage) {
      CHECK(wide[stage].weights >= narrow[stage].weights);
      CHECK(wide[stage].gradients >= narrow[stage].gradients);
      CHECK(wide[stage].optimizer <= narrow[stage].optimizer);
      CHECK(wide[stage].activations >= narrow[stage].activations);
      CHECK(wide[stage].buffers >= narrow[stage].buffers);
    }
  }
  CHECK(seen > 40);
}

TEST_CASE("jobs: no simulated step breaks a law that answers are held to") {
  test::RandomJobs jobs;
  const std::uint64_t count = test::law_jobs(200, 10);
  std::uint64_t seen = 0;
  for (std::uint64_t number = 0; number < count; ++number) {
    CAPTURE(number);
    CHECK_NOTHROW(seen += answer_scenario(jobs.draw(number).scenario).ok() ? 1 : 0);
  }
  CHECK(seen > count / 2);
}

}  // namespace
}  // namespace foretrace
