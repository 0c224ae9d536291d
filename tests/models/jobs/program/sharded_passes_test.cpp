#include "models/jobs/program/sharded_passes.h"

#include <algorithm>
#include <array>

#include <doctest/doctest.h>

#include "models/jobs/program/estimate.h"
#include "models/jobs/program/graphs/rank_nodes.h"
#include "models/jobs/program/stages.h"
#include "tests/models/jobs/program/selene_job.h"

using foretrace::build_program;
using foretrace::CollectiveKind;
using foretrace::estimate;
using foretrace::Job;
using foretrace::rank_nodes;
using foretrace::RankNode;
using foretrace::RankProgram;
using foretrace::Recompute;
using foretrace::Sharding;
using foretrace::whole_gradients;
using foretrace::test::job_of;
using foretrace::test::JobParts;
using foretrace::test::selene;

namespace {

// 64 ranks that share all parameters, everything recomputed.
Job sharded(const JobParts& given) {
  Job job = job_of(given);
  job.plan.data = 64;
  job.plan.sharding = Sharding::parameters;
  job.global_batch = 64;
  job.recompute = Recompute::full;
  return job;
}

RankProgram::Step step_of(const Job& job) { return build_program(job)->step; }

}  // namespace

TEST_CASE("sharded passes: the host puts the parts of small tensors in their places") {
  JobParts given = selene("gpt_22b", "deepspeed_zero3_2021");
  given.framework.travel.host_per_view_ns = 1000;
  given.framework.travel.host_per_copy_ns = 6000;
  const RankProgram::Step with = step_of(sharded(given));
  given.framework.travel.host_per_view_ns = given.framework.travel.host_per_copy_ns = 0;
  const RankProgram::Step without = step_of(sharded(given));
  // Of 48 layers two norms with two tensors each and four biases, two of the last norm: 386 with a
  // part for each of 64 ranks: two views and a copy, 8 us.
  CHECK(with.stages.front().update - without.stages.front().update == 386LL * 64 * 8000);
  CHECK(with.stages.front().parameters == without.stages.front().parameters);
  CHECK(without.stages.front().parameters > 0);
  given.framework.travel.resident_elements = 0;
  CHECK(step_of(sharded(given)).stages.front().parameters == 0);
}

TEST_CASE("sharded passes: what the host does per rank grows with the ranks") {
  JobParts given = selene("gpt_22b", "deepspeed_zero3_2021");
  const auto host_of = [&](std::uint32_t ranks) {
    const auto backward = [&](double host_ns) {
      given.framework.travel.host_per_view_ns = host_ns / 4;
      given.framework.travel.host_per_copy_ns = host_ns * 3 / 4;
      Job job = sharded(given);
      job.plan.data = ranks;
      job.global_batch = ranks;
      return step_of(job).backward.front().total;
    };
    return backward(8000) - backward(0);
  };
  // Each layer: four tensors for the recomputation, up to three again, twelve gradients. What the
  // lists of a collective take beside it is hidden, so that this is the most.
  const double most = 48. * (4 + 3 + 12) + 16;
  CHECK(host_of(512) <= most * 512 * 8000);
  CHECK(host_of(512) > 0.5 * most * 512 * 8000);
  CHECK(host_of(512) > 1.5 * host_of(256));
}

TEST_CASE("sharded passes: tensors that stay between two uses are not collected again") {
  JobParts given = selene("gpt_22b", "deepspeed_zero3_2021");
  given.framework.travel.reuse_elements = 1e12;
  const double kept = step_of(sharded(given)).backward.front().total;
  given.framework.travel.reuse_elements = 0;
  CHECK(step_of(sharded(given)).backward.front().total > kept);
}

TEST_CASE("sharded passes: a tensor that travels alone needs less room than its layer") {
  JobParts given = selene("gpt_22b", "deepspeed_zero3_2021");
  const auto buffers = [&] { return estimate(sharded(given))->memory[0].buffers; };
  const double tensor = buffers();
  // The table is the largest tensor; a layer has 12 hidden^2 in its matrices.
  given.framework.travel.prefetch_elements = 1e9;
  const double ahead = buffers();
  given.framework.travel.by_tensor = false;
  const double layer = buffers();
  CHECK(tensor < ahead);
  CHECK(ahead <= layer);
}

TEST_CASE("sharded passes: what the host does is no communication") {
  JobParts given = selene("gpt_22b", "deepspeed_zero3_2021");
  const auto breakdown = [&](double host_ns) {
    given.framework.travel.host_per_copy_ns = host_ns;
    const Job job = sharded(given);
    return estimate(job)->breakdown;
  };
  constexpr auto data = static_cast<std::size_t>(foretrace::Axis::data);
  const auto with = breakdown(8000);
  const auto without = breakdown(0);
  CHECK(with.host > without.host + 48 * 12 * 64 * 8000.);
  CHECK(with.exposed[data] <= without.exposed[data]);
}

TEST_CASE("sharded passes: without resharding nothing is collected for the backward pass") {
  JobParts given = selene("gpt_22b", "deepspeed_zero3_2021");
  given.framework.reshards_after_forward = false;
  const double kept = step_of(sharded(given)).backward.front().total;
  given.framework.reshards_after_forward = true;
  given.framework.travel.reuse_elements = 1e12;  // nothing is collected twice
  CHECK(step_of(sharded(given)).backward.front().total > kept);
}

TEST_CASE("sharded passes: in a pipeline parameters come once a step and gradients leave once") {
  JobParts given = selene("gpt_22b", "torchtitan");
  Job job = sharded(given);
  job.plan.pipeline = 4;
  job.plan.data = 16;
  const auto bytes_of = [&](const char* name) {
    const auto program = rank_nodes(job, *build_program(job), 1);
    REQUIRE_MESSAGE(program.ok(), program.error().message);
    double bytes = 0;
    for (const RankNode& node : *program) bytes += node.name == name ? node.bytes : 0;
    return bytes;
  };
  const auto seen = [&](std::uint32_t micro_batches) {
    job.global_batch = 16. * micro_batches;
    const auto held = estimate(job)->memory[1];
    return std::array<double, 4>{bytes_of("collect parameters"), bytes_of("divide gradients"),
                                 held.weights, held.gradients};
  };
  REQUIRE(given.framework.pipeline_keeps_collected);
  const auto kept = seen(8);
  const double elements = build_program(job)->step.stages[1].dense;
  CHECK(kept[0] == doctest::Approx(2 * elements));
  CHECK(kept[1] == doctest::Approx(4 * elements));
  CHECK(kept[2] == doctest::Approx((2 + 4. / 16) * elements));
  CHECK(kept[3] == doctest::Approx(4 * elements));
  CHECK(seen(16) == kept);
  given.framework.pipeline_keeps_collected = false;
  const auto left = seen(8);
  CHECK(left[0] == doctest::Approx(8 * 2 * 2 * elements));
  CHECK(left[1] == doctest::Approx(8 * 4 * elements));
  CHECK(left[2] == doctest::Approx(4. / 16 * elements));
  CHECK(left[3] == left[2]);
}

TEST_CASE("sharded passes: messages between stages and logits stay until the end of a step") {
  JobParts given = selene("gpt_22b", "torchtitan");
  Job job = sharded(given);
  job.plan.pipeline = 4;
  job.plan.data = 16;
  job.global_batch = 16. * 8;
  const auto buffers = [&] {
    const auto held = *estimate(job);
    return std::array<double, 3>{held.memory[0].buffers, held.memory[1].buffers,
                                 held.memory[3].buffers};
  };
  REQUIRE(given.framework.pipeline_keeps_messages);
  const auto kept = buffers();
  given.framework.pipeline_keeps_messages = false;
  const auto left = buffers();
  const double message = job.micro_batch * job.length * job.model->hidden * 2;
  const double logits = job.micro_batch * job.length * job.model->vocabulary * 2;
  // 8 micro-batches; of those that a stage got, the 3 that it has not yet run backward are counted
  // as activations, and what it gave of them stays. Without: one each way.
  CHECK(kept[0] - left[0] == doctest::Approx((8 + 4 - 2) * message));
  CHECK(kept[1] - left[1] == doctest::Approx((8 + 8 - 3 + 8 + 3 - 2) * message));
  CHECK(kept[2] - left[2] == doctest::Approx((8 + 8 - 1 - 2) * message + 7 * logits));
}

TEST_CASE(
    "sharded passes: gradients of a chunk are whole from its first backward pass to its last") {
  JobParts given = selene("gpt_22b", "torchtitan");
  Job job = sharded(given);
  job.plan.pipeline = 4;
  job.plan.data = 16;
  job.global_batch = 16. * 4;
  CHECK(whole_gradients(job, 1) == 1);
  job.schedule = *foretrace::find_schedule("interleaved");
  job.chunks = 2;
  // As many micro-batches as stages: the last chunk runs all of them backward before the first one
  // starts. Half is whole, the other half divided by 16 ranks.
  CHECK(whole_gradients(job, 1) == doctest::Approx(0.5));
  const double elements = build_program(job)->step.stages[1].dense;
  CHECK(estimate(job)->memory[1].gradients == doctest::Approx(4 * elements * (0.5 + 0.5 / 16)));
  job.global_batch = 16. * 16;
  CHECK(whole_gradients(job, 1) == 1);
}

TEST_CASE("sharded passes: an allocator has segments for a layer beside what the head needs") {
  JobParts given = selene("gpt_22b", "torchtitan");
  REQUIRE(given.framework.reserves_segments);
  Job job = sharded(given);
  job.recompute = Recompute::none;
  const auto with = estimate(job)->memory[0];
  const auto program = *build_program(job);
  given.framework.reserves_segments = false;
  const auto without = estimate(job)->memory[0];
  const auto& blocks = *program.blocks;
  const auto layer = std::find_if(blocks.begin(), blocks.end(), [](const RankProgram::Block& one) {
    return one.role == foretrace::BlockRole::layer;
  });
  // The widest products: 4 hidden numbers of a token from one, and one from 4.
  const double token = 2 * job.micro_batch * job.length * job.model->hidden;
  CHECK(layer->gradient_bytes == doctest::Approx(5 * token));
  CHECK(layer->passing_bytes == doctest::Approx(9 * token));
  CHECK(with.working == without.working);
  const double head = program.step.stages[0].head_kept;
  const double all = std::max(head + std::min(head, 9 * token), layer->working_bytes + 5 * token);
  CHECK(with.buffers - without.buffers == doctest::Approx(std::max(0.0, all - with.working)));
}

TEST_CASE("sharded passes: what streams of collectives have reserved lies beside what stays") {
  JobParts given = selene("gpt_22b", "torchtitan");
  Job job = sharded(given);
  job.plan.pipeline = 4;
  job.plan.data = 16;
  job.global_batch = 16. * 4;
  for (const std::uint32_t chunks : {1U, 2U}) {
    CAPTURE(chunks);
    job.chunks = chunks;
    job.schedule = *foretrace::find_schedule(chunks == 1 ? "1f1b" : "interleaved");
    given.framework.reserves_segments = true;
    const RankProgram::Stage sums = build_program(job)->step.stages[1];
    const auto with = estimate(job)->memory[1];
    given.framework.reserves_segments = false;
    const auto without = estimate(job)->memory[1];
    // Two blocks arrive in 16 bit, one behind the other; of what is whole at once, and never of more
    // chunks, sums come out in fp32.
    const double arriving = 2 * 2 * sums.largest;
    const double divided = 4. / 16 * sums.dense / chunks;
    CHECK(with.buffers - without.buffers == doctest::Approx(sums.segments + arriving + divided));
    CHECK(with.gradients == without.gradients);
    CHECK(with.weights == without.weights);
  }
}

TEST_CASE("sharded passes: without a pipeline nothing stays collected") {
  JobParts given = selene("gpt_22b", "torchtitan");
  const auto with = *estimate(sharded(given));
  given.framework.pipeline_keeps_collected = false;
  const auto without = *estimate(sharded(given));
  CHECK(with.step_ns == without.step_ns);
  CHECK(with.memory[0].total() == without.memory[0].total());
}

TEST_CASE("sharded passes: a breakdown of tensors that travel alone sums to the step") {
  const JobParts given = selene("gpt_22b", "deepspeed_zero3_2021");
  const Job job = sharded(given);
  const auto answer = *estimate(job);
  CHECK(answer.breakdown.total() == doctest::Approx(static_cast<double>(answer.step_ns)));
}

TEST_CASE("sharded passes: programs of ranks collect large tensors one by one") {
  JobParts given = selene("gpt_22b", "deepspeed_zero3_2021");
  const auto count = [&](double elements) {
    const Job job = sharded(given);
    const auto program = rank_nodes(job, *build_program(job), 0);
    REQUIRE_MESSAGE(program.ok(), program.error().message);
    return std::count_if(program->begin(), program->end(), [&](const RankNode& node) {
      return node.collective == CollectiveKind::all_gather && node.bytes == 2 * elements;
    });
  };
  // Two matrices of 6,144 x 24,576 in each of 48 layers, forward and backward; a bias never.
  CHECK(count(6144. * 24576) == 2 * 48 * 2);
  CHECK(count(24576) == 0);
  // What stays comes together once, after the update: four norms' tensors and four biases of each
  // layer, and the last norm.
  CHECK(count(48. * (4 * 6144 + 6144 * 3 + 6144 + 24576 + 6144) + 2 * 6144) == 1);
  given.framework.travel.by_tensor = false;
  CHECK(count(6144. * 24576) == 0);
}
