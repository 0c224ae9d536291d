// A step on several scales: stages, folded modules, what is in none.
#include "sim/result/steps/step_summary.h"

#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "apps/session/recording/load.h"
#include "tests/models/toy_run.h"

namespace foretrace {
namespace {

using test::ToyRun;

LayerId layer(ToyRun& run, const std::string& path) { return run.builder().add_layer(path); }

const SummaryNode* find(const std::vector<SummaryNode>& nodes, const std::string& name) {
  for (const SummaryNode& node : nodes) {
    if (node.name == name) {
      return &node;
    }
  }
  return nullptr;
}

}  // namespace

TEST_CASE("step summary: modules of one form are folded at every level, their figures summed") {
  ToyRun run;
  for (int block = 0; block < 3; ++block) {
    const std::string path = "Model/Block_" + std::to_string(block);
    for (int linear = 0; linear < 2; ++linear) {
      run.kernel({.duration_ns = 10 + block,
                  .launch_ns = 5,
                  .layer = layer(run, path + "/Linear_" + std::to_string(2 * block + linear))});
    }
  }
  run.kernel({.duration_ns = 7, .layer = layer(run, "Model/Head")});
  const StepSummary summary = summarize_step(run.build());
  REQUIRE(summary.stages.size() == 1);
  const SummaryNode* forward = find(summary.stages, "forward");
  REQUIRE(forward != nullptr);
  CHECK(forward->device_ns == 2 * (10 + 11 + 12) + 7);
  REQUIRE(forward->children.size() == 1);
  const std::vector<SummaryNode>& model = forward->children[0].children;
  REQUIRE(model.size() == 2);
  CHECK(model[0].name == "Block_*/Linear_*");
  CHECK(model[0].repeats == 6);
  CHECK(model[0].operations == 6);
  CHECK(model[0].device_ns == 66);
  CHECK(model[1].name == "Head");
  CHECK(summary.in_module_ns == summary.could_be_in_module_ns);
}

TEST_CASE("step summary: modules of other forms stay apart") {
  ToyRun run;
  run.kernel({.duration_ns = 10, .layer = layer(run, "Block_0/Linear_0")});
  run.kernel({.duration_ns = 20, .layer = layer(run, "Block_1/Linear_1")});
  run.kernel({.duration_ns = 30, .layer = layer(run, "Block_1/Norm_0")});
  const SummaryNode forward = *find(summarize_step(run.build()).stages, "forward");
  REQUIRE(forward.children.size() == 2);
  CHECK(forward.children[0].name == "Block_1");
  CHECK(forward.children[0].device_ns == 50);
  CHECK(forward.children[1].name == "Block_0/Linear_0");
}

TEST_CASE("step summary: loss and zeroing of gradients are stages of their own") {
  ToyRun run;
  run.kernel({.duration_ns = 10, .operator_name = "aten::mm"});
  run.kernel({.duration_ns = 20, .operator_name = "aten::nll_loss_forward"});
  run.kernel({.duration_ns = 30, .operator_name = "aten::mm", .phase = Phase::backward});
  run.kernel({.duration_ns = 40, .operator_name = "aten::zero_", .phase = Phase::update});
  run.kernel({.duration_ns = 50, .operator_name = "aten::add_", .phase = Phase::update});
  run.kernel({.duration_ns = 60, .phase = Phase::unknown});
  const StepSummary summary = summarize_step(run.build());
  std::vector<std::string> names;
  for (const SummaryNode& stage : summary.stages) {
    names.push_back(stage.name);
  }
  CHECK(names == std::vector<std::string>{"forward", "loss", "backward", "zero gradients", "update",
                                          "no stage"});
  CHECK(summary.device_ns == 210);
  CHECK(summary.in_stage_ns == 150);
  CHECK(summary.in_module_ns == 0);
}

TEST_CASE("step summary: a path of a million modules is cut, not followed") {
  ToyRun run;
  std::string path;
  for (int i = 0; i < 1000000; ++i) {
    path += "m/";
  }
  run.kernel({.duration_ns = 10, .layer = layer(run, path)});
  CHECK(find(summarize_step(run.build()).stages, "forward")->device_ns == 10);
}

TEST_CASE("step summary: recordings have a stage for 95 % of their device time") {
  const std::string traces = std::string(FORETRACE_SHARED_DIR) + "/traces/";
  if (!std::filesystem::exists(traces)) {
    MESSAGE("SKIPPED: no shared recordings at " << traces);
    return;
  }
  for (const char* name :
       {"kineto_resnet50/workers0_v100", "tracelens/resnet_act_ckpt_mi300x",
        "tracelens/qwen15_05b_h100", "hta/train_8rank_a100_rank3", "hta/mem_2rank_v100_rank1"}) {
    INFO(name);
    const Recording recording = load(traces + name + ".json.gz").value();
    const StepSummary summary = summarize_step(recording.graph());
    CHECK(static_cast<double>(summary.in_stage_ns) >=
          0.95 * static_cast<double>(summary.device_ns));
    if (summary.in_module_ns > 0) {
      CHECK(static_cast<double>(summary.in_module_ns) >=
            0.95 * static_cast<double>(summary.could_be_in_module_ns));
    }
    std::int64_t sum = 0;
    for (const SummaryNode& stage : summary.stages) {
      sum += stage.device_ns;
    }
    CHECK(sum == summary.device_ns);
  }
  const StepSummary six =
      summarize_step(load(traces + "kineto_resnet50/workers0_v100.json.gz").value().graph());
  for (const char* stage :
       {"data loading", "forward", "loss", "backward", "zero gradients", "update"}) {
    CHECK(find(six.stages, stage) != nullptr);
  }
}

}  // namespace foretrace
