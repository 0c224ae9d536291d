#include "models/jobs/imports/calculon_execution.h"

#include <array>

#include <fmt/format.h>

#include "models/jobs/times/precisions.h"

namespace foretrace {
namespace {

constexpr double most_ranks_there = 1e7;
constexpr std::array<std::string_view, 4> datatypes = {"float16", "bfloat16", "float32", "float8"};
constexpr std::array<std::string_view, 4> our_datatypes = {"fp16", "bf16", "fp32", "fp8"};
constexpr std::array<std::string_view, 3> recompute_words = {"none", "attn_only", "full"};
constexpr std::array our_recomputes = {Recompute::none, Recompute::selective, Recompute::full};
constexpr std::array<std::string_view, 3> exchanges = {"ar", "p2p_rs_ag", "rs_ag"};

void read_groups(Members& members, Job& job) {
  job.plan.tensor = members.whole("tensor_par", most_ranks_there);
  job.plan.pipeline = members.whole("pipeline_par", most_ranks_there);
  job.plan.data = members.whole("data_par", most_ranks_there);
  const double ranks = 1.0 * job.plan.tensor * job.plan.pipeline * job.plan.data;
  const double processes = members.whole("num_procs", most_ranks_there);
  if (ranks != processes) {
    members.mistake("num_procs",
                    fmt::format("got {}, expected tensor_par x pipeline_par x data_par, which is "
                                "{}",
                                processes, ranks));
  }
  job.plan.sequence = members.word("tensor_par_comm_type", exchanges) == 2 && job.plan.tensor > 1;
  job.plan.sharding = members.flag("optimizer_sharding") ? Sharding::optimizer : Sharding::none;
}

}  // namespace

Status read_calculon_execution(const ImportedFile& file, Job& job) {
  Members members(file.document, file.path);
  read_groups(members, job);
  job.global_batch = members.whole("batch_size", most_ranks_there);
  job.micro_batch = members.whole("microbatch_size", most_ranks_there);
  job.chunks = members.whole("pipeline_interleaving", most_ranks_there);
  job.recompute = our_recomputes[members.word("activation_recompute", recompute_words)];
  job.precisions = *precisions_of(our_datatypes[members.word("datatype", datatypes)]);
  if (members.has("attention_type")) {
    // Shared keys and values ("multiquery") are a matter of the model file here.
    static_cast<void>(members.word("attention_type", std::array<std::string_view, 1>{"multihead"}));
  }
  job.pass = members.flag("training") ? Pass::training : Pass::prefill;
  for (const std::string_view key :
       {"weight_offload", "activations_offload", "optimizer_offload"}) {
    if (members.flag(key)) members.mistake(key, "got true, expected false: jobs offload nothing");
  }
  FORETRACE_TRY(job.schedule, find_schedule(job.chunks > 1 ? "interleaved" : "1f1b"));
  return members.finish();
}

}  // namespace foretrace
