// Operators of one GPT-3 layer on four A100 (LLMCompass, figure 5): prompts, or tokens one by one.
#include <array>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/jobs/times/kernel_times.h"
#include "tests/validation/tables/row_prediction.h"

namespace foretrace::table_readers::gpt3_layer_parts {
namespace {

struct Named {
  std::string_view called;
  std::vector<std::string_view> operators;
};

const std::vector<Named>& known_operators() {
  static const std::vector<Named> known = {{"q_k_v_proj", {"query", "key", "value"}},
                                           {"q_mul_k", {"query x key"}},
                                           {"a_mul_v", {"weights x value"}},
                                           {"w0_proj", {"attention output"}},
                                           {"mlp_up", {"feed forward up"}},
                                           {"mlp_down", {"feed forward down"}},
                                           {"softmax", {"softmax"}},
                                           {"layernorm_mha", {"attention norm"}},
                                           {"layernorm_mlp", {"feed forward norm"}},
                                           {"gelu", {"activation"}},
                                           {"allreduce_mha", {"leave"}},
                                           {"allreduce_mlp", {"leave"}}};
  return known;
}

/// A layer of the size that stands in the table, as PyTorch's single operators.
Result<Scenario> layer_scenario(const TruthTable& table, TableInputs& inputs) {
  FORETRACE_TRY(auto scenario, scenario_on(inputs, "a100_x4", "eager_fp32"));
  Framework framework = *scenario.framework;
  framework.kernels.packs_qkv = false;
  framework.kernels.activation_kernels = 1;
  framework.host_kernel_ns = {0, 0, 0};
  scenario.framework = std::make_shared<const Framework>(std::move(framework));
  FORETRACE_TRY(auto shipped, inputs.model("GPT-3 175B"));
  ModelSpec model = *shipped;
  TransformerSpec& spec = model.transformer;
  RowNumbers fixed(table.fixed_row());
  spec.layers = 1;
  spec.hidden = fixed.count_or("d_model", spec.hidden, most_width);
  spec.heads = spec.kv_heads = fixed.count_or("heads", spec.heads, spec.hidden);
  spec.head_size = spec.hidden / spec.heads;
  spec.ffn = 4 * spec.hidden;
  scenario.model = std::make_shared<const ModelSpec>(std::move(model));
  const ConfigValue* const phase = table.fixed("phase");
  Job& job = scenario.job;
  job.pass = phase != nullptr && phase->text.find("decod") != std::string::npos ? Pass::decode
                                                                                : Pass::prefill;
  job.precisions = {Precision::fp16, false};
  job.length = job.keys = fixed.count_or("seq", 2048, most_tokens);
  job.global_batch = job.micro_batch = fixed.count_or("batch", 8, most_sequences);
  job.plan.tensor = static_cast<std::uint32_t>(fixed.count_or("tp", 4, most_ranks));
  FORETRACE_TRY(fixed.status());
  return complete_scenario(std::move(scenario));
}

Result<TablePoint> point_of(const TruthRow& row, std::size_t i, const Scenario& scenario,
                            std::span<const Action> layer) {
  FORETRACE_TRY(const auto measured, measured_in(row, "s"));
  const std::string called = row.text("op");
  for (const Named& named : known_operators()) {
    if (named.called != called) continue;
    const KernelTimes kernels(*scenario.job.cluster, *scenario.job.framework,
                              scenario.job.precisions);
    TablePoint point{i, "s", 0, 0, 0, measured, called};
    for (const std::string_view one : named.operators) {
      for (const Action& action : layer) {
        if (action.name != one) continue;
        const Ranged spread = kernels.spread(action.source);
        point.predicted += action.ns * 1e-9;
        point.low += action.ns * spread.low * 1e-9;
        point.high += action.ns * spread.high * 1e-9;
        break;  // both exits of a layer are alike
      }
    }
    return point;
  }
  return Error{ErrorCode::not_found, fmt::format("no operator is called '{}'", called)};
}

Result<std::vector<TableResult>> read(const TruthTable& table, TableInputs& inputs) {
  FORETRACE_TRY(const auto scenario, layer_scenario(table, inputs));
  FORETRACE_TRY(const auto program, build_program(scenario.job));
  TableResult result;
  result.name = table.id;
  result.unit = "s";
  for (const RankProgram::Block& block : *program.blocks) {
    if (block.role != BlockRole::layer) continue;
    for (std::size_t i = 0; i < table.size(); ++i) {
      result.add(i, point_of(table.row(i), i, scenario, program.actions_of(block.forward)));
    }
  }
  result.notes.emplace_back("the products of this part are in the tables that constants are from");
  return std::vector{std::move(result)};
}

constexpr std::array<std::string_view, 2> names = {"gpt3_layer_tp4_prefill_a100_llmcompass",
                                                   "gpt3_layer_tp4_decode_a100_llmcompass"};

constexpr TableReaderInfo info = {
    "gpt3_layer", "operators of a GPT-3 layer on four A100 (LLMCompass)", names, read};

}  // namespace
}  // namespace foretrace::table_readers::gpt3_layer_parts

namespace foretrace::table_readers {
extern const TableReaderInfo gpt3_layer;
constinit const TableReaderInfo gpt3_layer = gpt3_layer_parts::info;
}  // namespace foretrace::table_readers
