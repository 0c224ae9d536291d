// What a scenario file says of a job, field by field, with the value of a field that is left out.
// The reader and the writer of scenarios go through these lists, so that neither knows a field, a
// word or a usual value that the other does not. `Fields` is FieldReader or FieldWriter.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "models/jobs/parallelism/plan.h"
#include "models/jobs/program/job.h"

namespace foretrace::job_fields {

inline constexpr double most_ranks = 1e6;
inline constexpr double most_tokens = 1e8;
inline constexpr double most_sequences = 1e9;
inline constexpr double most_chunks = 1024;
inline constexpr double most_servers = 1e6;
inline constexpr double most_block_numbers = 1e9;
inline constexpr double most_index_bytes = 1024;

// Words of enumerators, in their order.
inline constexpr std::array<std::string_view, 3> pass_words = {"training", "prefill", "decode"};
inline constexpr std::array<std::string_view, 4> sharding_words = {"none", "optimizer", "gradients",
                                                                   "parameters"};
inline constexpr std::array<std::string_view, 3> context_words = {"ring", "all_gather",
                                                                  "all_to_all"};
inline constexpr std::array<std::string_view, 4> recompute_words = {"none", "selective", "full",
                                                                    "operators"};
inline constexpr std::array<std::string_view, 3> sum_words = {"servers", "switch", "all_gather"};
inline constexpr std::string_view usual_precision = "bf16";
inline constexpr std::string_view usual_schedule = "1f1b";

}  // namespace foretrace::job_fields

namespace foretrace {

/// "/workload", beside the model.
template <typename Fields>
void workload_fields(Fields& fields, Job& job, const TransformerSpec& model) {
  fields.count("sequence", job.length, job_fields::most_tokens, model.positions);
  fields.word("pass", job.pass, job_fields::pass_words, Pass::training);
  fields.count("context", job.keys, job_fields::most_tokens, job.length);
}

/// "/parallelism". What a plan has that no file says is the framework's (context_ring,
/// tensor_pieces, async_tensor_backward).
template <typename Fields>
void plan_fields(Fields& fields, ParallelPlan& plan, const ParallelPlan& usual) {
  auto& [data, tensor, pipeline, context, expert, expert_tensor, sequence, sharding, shard_size,
         context_kind, balances_context, context_ring, tensor_pieces, async_tensor_backward] = plan;
  fields.count("data", data, job_fields::most_ranks, usual.data);
  fields.count("tensor", tensor, job_fields::most_ranks, usual.tensor);
  fields.count("pipeline", pipeline, job_fields::most_ranks, usual.pipeline);
  fields.count("context", context, job_fields::most_ranks, usual.context);
  fields.count("expert", expert, job_fields::most_ranks, usual.expert);
  fields.count("expert_tensor", expert_tensor, job_fields::most_ranks, usual.expert_tensor);
  fields.flag("sequence", sequence, usual.sequence);
  fields.word("sharding", sharding, job_fields::sharding_words, usual.sharding);
  fields.count("shard_size", shard_size, job_fields::most_ranks, usual.shard_size);
  fields.word("context_kind", context_kind, job_fields::context_words, usual.context_kind);
  fields.flag("balances_context", balances_context, usual.balances_context);
  static_cast<void>(context_ring);
  static_cast<void>(tensor_pieces);
  static_cast<void>(async_tensor_backward);
}

/// "/parallelism/stages/N". A stage that says more than its layers has ranks of its own.
template <typename Fields>
void stage_fields(Fields& fields, StageShare& share, const StageShare& usual) {
  auto& [layers, data, tensor, sharding, recompute] = share;
  fields.count("layers", layers, job_fields::most_ranks);
  fields.count("data", data, job_fields::most_ranks, usual.data);
  fields.count("tensor", tensor, job_fields::most_ranks, usual.tensor);
  fields.word("sharding", sharding, job_fields::sharding_words, usual.sharding);
  fields.word("recompute", recompute, job_fields::recompute_words, usual.recompute);
}

/// "/schedule".
template <typename Fields>
void schedule_fields(Fields& fields, Job& job) {
  fields.schedule("kind", job.schedule);
  fields.count("chunks", job.chunks, job_fields::most_chunks, std::uint32_t{1});
}

/// "/batch".
template <typename Fields>
void batch_fields(Fields& fields, Job& job) {
  fields.count("global", job.global_batch, job_fields::most_sequences);
  fields.count("micro", job.micro_batch, job_fields::most_sequences, 1.0);
}

/// "/sparse_gradients".
template <typename Fields>
void sum_fields(Fields& fields, SparseSum& sum) {
  const SparseSum usual;
  auto& [method, blocks, servers] = sum;
  auto& [density, overlap, numbers, number_bytes, index_bytes] = blocks;
  static_cast<void>(number_bytes);  // gradients are added up in 4 bytes
  fields.share("density", density);
  fields.share("overlap", overlap, usual.blocks.overlap);
  fields.count("block", numbers, job_fields::most_block_numbers, usual.blocks.numbers);
  fields.bytes("index_bytes", index_bytes, job_fields::most_index_bytes, usual.blocks.index_bytes);
  fields.word("method", method, job_fields::sum_words, usual.method);
  fields.whole("servers", servers, job_fields::most_servers, usual.servers);
}

/// Of the outermost object.
template <typename Fields>
void other_fields(Fields& fields, Job& job) {
  fields.precisions("precision", job.precisions);
  fields.word("recompute", job.recompute, job_fields::recompute_words, Recompute::none);
}

/// The plan of a scenario that states nothing of it; a recording has its groups. 0 ranks per
/// expert: decide_open() says how many.
[[nodiscard]] ParallelPlan unstated_plan(const TransformerSpec& model);
/// Sizes that are open until all others are known.
void decide_open(ParallelPlan& plan, const TransformerSpec& model);
/// Before others change: sizes that are what decide_open() makes them are open again, as they are
/// in the text of a scenario.
void reopen(ParallelPlan& plan, const TransformerSpec& model);
/// Stages of a pipeline that states its positions one by one.
[[nodiscard]] std::uint32_t unstated_pipeline(const Job& job);

}  // namespace foretrace
