#include "models/jobs/program/lowering.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "tests/models/jobs/program/selene_job.h"

using namespace foretrace;

namespace {

constexpr std::string_view copy = "pieces in order";

Job of_sequence(const test::JobParts& parts, Recompute recompute) {
  Job job = test::job_of(parts);
  job.plan.tensor = 8;
  job.plan.sequence = true;
  job.micro_batch = job.global_batch = 4;
  job.length = 2048;
  job.recompute = recompute;
  return job;
}

bool is_of_sequence(const Action& action) {
  return action.axis == Axis::tensor && (action.collective == CollectiveKind::all_gather ||
                                         action.collective == CollectiveKind::reduce_scatter);
}

/// Bytes that the tensor group collects or gives, by block and pass.
std::vector<double> moved(const RankProgram& program, CollectiveKind kind, BlockRole role) {
  std::vector<double> bytes;
  for (const RankProgram::Block& block : *program.blocks) {
    if (block.role != role) continue;
    for (const RankProgram::BlockPass* pass : block.passes()) {
      for (const Action& action : program.actions_of(*pass)) {
        if (action.axis == Axis::tensor && action.collective == kind) bytes.push_back(action.bytes);
      }
    }
  }
  return bytes;
}

}  // namespace

TEST_CASE("lowering: what a tensor group collects or gives is copied into order once") {
  test::JobParts parts = test::selene("gpt_22b", "torchtitan");
  REQUIRE(parts.framework.copies_pieces);
  for (const Recompute recompute : {Recompute::none, Recompute::full, Recompute::operators}) {
    const Job job = of_sequence(parts, recompute);
    const KernelTimes kernels(*job.cluster, *job.framework, job.precisions);
    const RankProgram program = lower_blocks(job);
    int copies = 0;
    for (std::size_t i = 0; i < program.actions->size(); ++i) {
      const Action& action = (*program.actions)[i];
      if (!is_of_sequence(action)) continue;
      REQUIRE(i + 1 < program.actions->size());
      const Action& next = (*program.actions)[i + 1];
      CHECK(next.name == copy);
      CHECK(next.ns == kernels.move(2 * action.bytes, 1).ns);
      CHECK(next.is_again == action.is_again);
      ++copies;
    }
    CHECK(copies > 8);
  }
}

TEST_CASE("lowering: pieces that other ranks made beside a product are added up by a kernel") {
  const test::JobParts parts = test::selene("gpt_22b", "torchtitan_async_tp");
  REQUIRE(parts.framework.pipelines_tensor);
  const Job job = of_sequence(parts, Recompute::full);
  const KernelTimes kernels(*job.cluster, *job.framework, job.precisions);
  const RankProgram program = lower_blocks(job);
  int sums = 0;
  for (std::size_t i = 1; i < program.actions->size(); ++i) {
    const Action& action = (*program.actions)[i];
    if (action.name != "pieces added up") continue;
    const Action& last = (*program.actions)[i - 1];
    CHECK(last.collective == CollectiveKind::reduce_scatter);
    // The last piece is an eighth: all of them are read, one is written.
    CHECK(action.ns == doctest::Approx(kernels.move(9 * last.bytes, 1).ns));
    ++sums;
  }
  CHECK(sums >= 4);
  test::JobParts others = parts;
  others.framework.copies_pieces = false;
  Job plain = job;
  plain.framework = &others.framework;
  CHECK(lower_blocks(plain).actions->size() < program.actions->size());
}

TEST_CASE("lowering: nothing is copied where positions come first, or are whole") {
  const auto has_copy = [](const RankProgram& program) {
    return std::any_of(program.actions->begin(), program.actions->end(),
                       [](const Action& action) { return action.name == copy; });
  };
  test::JobParts parts = test::selene("gpt_22b", "torchtitan");
  Job whole = of_sequence(parts, Recompute::full);
  whole.plan.sequence = false;
  CHECK_FALSE(has_copy(lower_blocks(whole)));
  const test::JobParts first = test::selene("gpt_22b", "megatron_core");
  CHECK_FALSE(has_copy(lower_blocks(of_sequence(first, Recompute::full))));
}

TEST_CASE(
    "lowering: inputs of 8-bit products travel in 8 bit, their results and the head's do not") {
  test::JobParts parts = test::selene("gpt_22b", "torchtitan");
  REQUIRE(parts.framework.gathers_8_bit);
  Job job = of_sequence(parts, Recompute::full);
  job.precisions = {Precision::bf16, true};
  const RankProgram low = lower_blocks(job);
  parts.framework.gathers_8_bit = false;
  const RankProgram whole = lower_blocks(job);
  for (const BlockRole role : {BlockRole::layer, BlockRole::head}) {
    const std::vector<double> small = moved(low, CollectiveKind::all_gather, role);
    const std::vector<double> large = moved(whole, CollectiveKind::all_gather, role);
    REQUIRE(small.size() == large.size());
    CHECK_FALSE(small.empty());
    for (std::size_t i = 0; i < small.size(); ++i) {
      CHECK(small[i] == (role == BlockRole::layer ? large[i] / 2 : large[i]));
    }
    CHECK(moved(low, CollectiveKind::reduce_scatter, role) ==
          moved(whole, CollectiveKind::reduce_scatter, role));
  }
  // In 16 bit nothing is cast.
  job.precisions.layers_in_8_bit = false;
  parts.framework.gathers_8_bit = true;
  CHECK(moved(lower_blocks(job), CollectiveKind::all_gather, BlockRole::layer) ==
        moved(whole, CollectiveKind::all_gather, BlockRole::layer));
}
