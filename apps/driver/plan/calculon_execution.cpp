#include "apps/driver/plan/calculon_execution.h"

#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/driver/plan/scenario.h"
#include "models/catalogue/config_files.h"
#include "sim/core/params.h"

namespace foretrace::driver {
namespace {

/// Reads members and keeps the first mistake.
class Members {
 public:
  Members(const ConfigValue& root, const std::string& path) : root_(root), path_(path) {}

  [[nodiscard]] std::uint32_t count(std::string_view key) {
    constexpr double most = 1e7;
    const ConfigValue* const value = root_.find(key);
    if (value != nullptr && value->kind == ConfigValue::Kind::number) {
      const auto number = parse_quantity(value->text, ParamType::number);
      if (number.ok() && *number >= 1 && *number <= most && *number == std::floor(*number)) {
        return static_cast<std::uint32_t>(*number);
      }
    }
    expected(key, "a whole number from 1 to 1e+07");
    return 1;
  }
  [[nodiscard]] bool flag(std::string_view key) {
    const ConfigValue* const value = root_.find(key);
    if (value != nullptr && value->kind == ConfigValue::Kind::boolean) return value->text == "true";
    expected(key, "true or false");
    return false;
  }
  template <std::size_t Count>
  [[nodiscard]] std::size_t word(std::string_view key,
                                 const std::array<std::string_view, Count>& words) {
    const ConfigValue* const value = root_.find(key);
    for (std::size_t i = 0; value != nullptr && i < Count; ++i) {
      if (value->kind == ConfigValue::Kind::text && value->text == words[i]) return i;
    }
    expected(key, fmt::format("one of {}", fmt::join(words, ", ")));
    return 0;
  }
  void expected(std::string_view key, const std::string& what) {
    const ConfigValue* const value = root_.find(key);
    mistake(key, fmt::format("{}, expected {}",
                             value == nullptr ? "missing key" : value->described(), what));
  }
  void mistake(std::string_view key, const std::string& what) {
    if (status_.ok()) {
      status_ = Error{ErrorCode::bad_config, fmt::format("{}: /{}: {}", path_, key, what)};
    }
  }
  [[nodiscard]] Status take() { return std::move(status_); }

 private:
  const ConfigValue& root_;
  const std::string& path_;
  Status status_ = ok_status();
};

constexpr std::array<std::string_view, 4> datatypes = {"float16", "bfloat16", "float32", "float8"};
constexpr std::array<std::string_view, 4> our_datatypes = {"fp16", "bf16", "fp32", "fp8"};
constexpr std::array<std::string_view, 3> recompute_words = {"none", "attn_only", "full"};
constexpr std::array our_recomputes = {Recompute::none, Recompute::selective, Recompute::full};
constexpr std::array<std::string_view, 3> exchanges = {"ar", "p2p_rs_ag", "rs_ag"};

void read_groups(Members& members, Job& job) {
  job.plan.tensor = members.count("tensor_par");
  job.plan.pipeline = members.count("pipeline_par");
  job.plan.data = members.count("data_par");
  const double ranks = 1.0 * job.plan.tensor * job.plan.pipeline * job.plan.data;
  const double processes = members.count("num_procs");
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

Status read_calculon_execution(const std::string& path, Job& job) {
  const auto text = read_config_text(path);
  if (!text.ok()) return text.error();
  const auto root = parse_config(*text);
  if (!root.ok()) return Error(root.error()).with_context(path);
  Members members(*root, path);
  read_groups(members, job);
  job.global_batch = members.count("batch_size");
  job.micro_batch = members.count("microbatch_size");
  job.chunks = members.count("pipeline_interleaving");
  job.recompute = our_recomputes[members.word("activation_recompute", recompute_words)];
  job.precisions = *precisions_of(our_datatypes[members.word("datatype", datatypes)]);
  if (root->find("attention_type") != nullptr) {
    // Shared keys and values ("multiquery") are a matter of the model file here.
    static_cast<void>(members.word("attention_type", std::array<std::string_view, 1>{"multihead"}));
  }
  job.pass = members.flag("training") ? Pass::training : Pass::prefill;
  for (const std::string_view key :
       {"weight_offload", "activations_offload", "optimizer_offload"}) {
    if (members.flag(key)) members.mistake(key, "got true, expected false: jobs offload nothing");
  }
  const auto schedule = find_schedule(job.chunks > 1 ? "interleaved" : "1f1b");
  if (!schedule.ok()) return schedule.error();
  job.schedule = *schedule;
  return members.take();
}

}  // namespace foretrace::driver
