// Scenarios of models as runs that what-ifs act on.
#include "apps/session/recording/modelled.h"

#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "apps/predictor/predictor.h"
#include "apps/session/load_run.h"
#include "apps/sweep/points/evaluate.h"
#include "models/jobs/figures/scenario_answer.h"
#include "models/whatifs/examples.h"
#include "models/whatifs/what_if_spec.h"
#include "tests/configs.h"

namespace foretrace {
namespace {

using Texts = std::vector<std::string>;

/// A job on `plan` with four micro-batches per data rank, large enough to keep the device busy.
std::string scenario_text_of(const std::string& workload, const std::string& plan,
                             std::uint32_t data, const std::string& more = "") {
  const std::uint32_t micro = workload.find("resnet") == std::string::npos ? 4 : 128;
  return fmt::format(
      R"({{"schema": "foretrace.scenario/1", "workload": {}, "cluster": "selene",
          "framework": "megatron_2022", "precision": "fp16", "parallelism": {{{}}},
          "batch": {{"global": {}, "micro": {}}}{}}})",
      workload, plan, 4 * micro * data, micro, more);
}

const std::string gpt = R"({"model": "gpt_1.7b", "sequence": 2048})";
const std::string resnet = R"({"model": "resnet50"})";

Scenario parsed(const std::string& text) {
  auto scenario = parse_scenario(*test::shipped(), text, "test.json");
  REQUIRE_MESSAGE(scenario.ok(), (scenario.ok() ? "" : scenario.error().message));
  return std::move(*scenario);
}

Session session_of(const std::string& text) {
  auto recording = modelled_recording(parsed(text));
  REQUIRE_MESSAGE(recording.ok(), (recording.ok() ? "" : recording.error().message));
  recording->known = test::shipped();
  auto session = Session::of(std::move(*recording));
  REQUIRE(session.ok());
  return std::move(*session);
}

Result<Answer> asked(const Session& session, const Texts& texts) {
  FORETRACE_TRY(const auto stack, stack_of(texts));
  return session.ask(stack);
}

Answer answered(const Session& session, const Texts& texts) {
  auto answer = asked(session, texts);
  REQUIRE_MESSAGE(answer.ok(), (answer.ok() ? "" : answer.error().message));
  return std::move(*answer);
}

double near(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) / static_cast<double>(b);
}

TEST_CASE("law: a modelled job that is spread is the job under the plan") {
  struct Plan {
    std::string scenario;
    std::string what_if;
    std::uint32_t data = 1;
  };
  const std::vector<Plan> plans = {
      {R"("data": 8)", "data=8", 8},
      {R"("data": 8, "sharding": "optimizer")", "data=8,zero=1", 8},
      {R"("data": 8, "sharding": "gradients")", "data=8,zero=2", 8},
      {R"("data": 8, "sharding": "parameters")", "data=8,zero=3", 8},
      {R"("tensor": 8)", "tensor=8"},
      {R"("tensor": 8, "sequence": true)", "tensor=8,sequence=true"},
      {R"("pipeline": 4)", "pipeline=4"},
      {R"("data": 2, "tensor": 4)", "data=2,tensor=4", 2},
      {R"("data": 2, "pipeline": 2)", "data=2,pipeline=2", 2},
      {R"("data": 2, "tensor": 2, "pipeline": 2, "sharding": "optimizer")",
       "data=2,tensor=2,pipeline=2,zero=1", 2}};
  for (const std::string& workload : {gpt, resnet}) {
    const Session one = session_of(scenario_text_of(workload, "", 1));
    for (const Plan& plan : plans) {
      if (workload == resnet && plan.scenario.find("tensor") != std::string::npos) continue;
      CAPTURE(plan.what_if);
      const Scenario there = parsed(scenario_text_of(workload, plan.scenario, plan.data));
      const auto expected = answer_scenario(there);
      REQUIRE(expected.ok());
      const Answer got = answered(one, {"parallel:" + plan.what_if + ",cluster=selene"});
      CHECK(near(got.step_ns(), expected->step_ns) == doctest::Approx(1).epsilon(0.02));
      REQUIRE(got.need());
      CHECK(static_cast<double>(got.need()->live_bytes) ==
            doctest::Approx(expected->fullest().total()).epsilon(0.01));
      CHECK(got.samples() == plan.data);
    }
  }
}

TEST_CASE("law: what a plan leaves open is decided for the groups that a what-if gives it") {
  const std::string experts = R"({"model": "mixtral_8x7b", "sequence": 2048})";
  struct Groups {
    std::uint32_t data = 1;
    std::uint32_t tensor = 1;
  };
  const std::vector<Groups> all = {{8, 1}, {2, 4}, {1, 8}, {4, 2}};
  const auto text = [&](const Groups& groups) {
    return scenario_text_of(experts,
                            fmt::format(R"("data": {}, "tensor": {})", groups.data, groups.tensor),
                            groups.data);
  };
  for (const Groups& from : all) {
    const Session session = session_of(text(from));
    for (const Groups& to : all) {
      CAPTURE(from.tensor);
      CAPTURE(to.tensor);
      const Answer got = answered(
          session, {fmt::format("parallel:data={},tensor={},cluster=selene", to.data, to.tensor)});
      const auto expected = answer_scenario(parsed(text(to)));
      REQUIRE(expected.ok());
      CHECK(near(got.step_ns(), expected->step_ns) == doctest::Approx(1).epsilon(0.02));
    }
  }
}

TEST_CASE("law: an option of a spread job changes it or is refused") {
  const Session sharded = session_of(
      scenario_text_of(gpt, R"("data": 8, "sharding": "parameters", "shard_size": 4)", 8));
  const auto refusal = [&](const std::string& options) {
    const auto answer = asked(sharded, {"parallel:" + options + ",cluster=selene"});
    REQUIRE_FALSE(answer.ok());
    return answer.error().message;
  };
  CHECK(refusal("data=16,shard_size=3").find("shard_size: got 3, expected a divisor") !=
        std::string::npos);
  CHECK(refusal("data=8,sequence=true").find("sequence: only with tensor") != std::string::npos);
  CHECK(refusal("zero=0,shard_size=2").find("shard_size: only with zero") != std::string::npos);
  const auto held = [&](const std::string& options) {
    return answered(sharded, {"parallel:" + options + ",cluster=selene"}).need()->live_bytes;
  };
  // Shards stay among four, and among as many as are said.
  CHECK(held("data=8,zero=3") == held("data=8"));
  CHECK(held("data=8,shard_size=2") > held("data=8"));
  CHECK(held("data=8,shard_size=0") < held("data=8"));
}

TEST_CASE("modelled: what-ifs act on the spread job, in whatever order they are given") {
  const Session one = session_of(scenario_text_of(gpt, "", 1));
  const std::string spread = "parallel:data=8,cluster=selene";
  const Answer alone = answered(one, {spread});
  const Answer first = answered(one, {"flash_attention", spread, "compress_communication"});
  const Answer last = answered(one, {spread, "compress_communication", "flash_attention"});
  CHECK(first.run().timeline.points == last.run().timeline.points);
  CHECK(first.step_ns() < alone.step_ns());
  CHECK(first.prediction().applied.size() == 3);
  CHECK(first.need()->live_bytes < alone.need()->live_bytes);
}

TEST_CASE("law: an identity changes nothing of a modelled job") {
  for (const std::string& workload : {gpt, resnet}) {
    const Session session = session_of(scenario_text_of(workload, R"("data": 2)", 2));
    for (const Texts& stack : std::vector<Texts>{{}, {"scale:factor=1"}, {"parallel:data=2"}}) {
      const Answer answer = answered(session, stack);
      CHECK(answer.run().timeline.points == session.run().timeline.points);
      CHECK(answer.need()->live_bytes == session.need()->live_bytes);
    }
  }
}

TEST_CASE("modelled: a scenario's own what-ifs are those that are asked of it") {
  const std::string with = scenario_text_of(
      gpt, R"("data": 2)", 2,
      R"(, "what_ifs": ["flash_attention", {"optimization": "low_rank", "parameters": {"ratio": 0.25}}])");
  const Answer asked_for = answered(session_of(scenario_text_of(gpt, R"("data": 2)", 2)),
                                    {"flash_attention", "low_rank:ratio=0.25"});
  const auto own = answer_what_ifs(parsed(with), test::shipped());
  REQUIRE(own.ok());
  CHECK(own->step_ns() == asked_for.step_ns());
  CHECK(own->low_ns() == asked_for.low_ns());

  const std::string path = (std::filesystem::temp_directory_path() / "own_what_ifs.json").string();
  std::ofstream(path) << with;
  const auto run = open(path, {.load = {.catalogue = test::shipped()}});
  REQUIRE(run.ok());
  CHECK(run->step_ns() == asked_for.step_ns());
  // A plan that comes on top keeps them.
  CHECK(answered(*run, {"parallel:data=2"}).step_ns() == asked_for.step_ns());
  // What it has had is not done to its own result.
  CHECK(asked(*run, {"flash_attention"}).error().message.find("already") != std::string::npos);
  const auto predictor = Predictor::load(path, {.catalogue = test::shipped()});
  REQUIRE(predictor.ok());
  CHECK(predictor->predict({})->step_ns == asked_for.step_ns());
  CHECK(predictor->predict({})->memory_bytes == asked_for.need()->live_bytes);
  std::filesystem::remove(path);
}

TEST_CASE("modelled: a point of a sweep has the what-ifs of its axis") {
  const std::string base = scenario_text_of(gpt, R"("data": 2)", 2);
  const auto sweep = sweeping::parse_sweep(
      R"({"schema": "foretrace.sweep/1", "scenario": )" + base +
          R"(, "axes": [{"name": "changed", "pointer": "/what_ifs", "values": [[], ["flash_attention"]]},
                       {"pointer": "/parallelism/tensor", "values": [1, 2]}],
             "objectives": ["step_ns", "memory_bytes"]})",
      "test.json", "");
  REQUIRE_MESSAGE(sweep.ok(), (sweep.ok() ? "" : sweep.error().message));
  const auto evaluation = sweeping::prepare(*sweep, test::shipped());
  REQUIRE_MESSAGE(evaluation.ok(), (evaluation.ok() ? "" : evaluation.error().message));
  std::vector<sweeping::PointResult> points(4);
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].where = {std::floor(static_cast<double>(i) / 2), static_cast<double>(i % 2)};
  }
  (*evaluation)->evaluator()->evaluate(points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    CAPTURE(points[i].reason);
    REQUIRE(points[i].metrics.size() >= 2);
    const std::string plan = i % 2 == 0 ? R"("data": 2)" : R"("data": 2, "tensor": 2)";
    const Session session = session_of(scenario_text_of(gpt, plan, 2));
    const Answer expected = answered(session, i < 2 ? Texts{} : Texts{"flash_attention"});
    // Without what-ifs a point is computed by passes.
    CHECK(points[i].metrics[0] ==
          doctest::Approx(static_cast<double>(expected.step_ns())).epsilon(i < 2 ? 0.001 : 1e-9));
  }
}

TEST_CASE("modelled: mistakes are named where they stand") {
  const auto refused = [](const std::string& more) {
    const auto answer =
        answer_what_ifs(parsed(scenario_text_of(gpt, R"("data": 2)", 2, more)), test::shipped());
    return answer.ok() ? std::string() : answer.error().message;
  };
  CHECK(refused(R"(, "what_ifs": ["flash_atention"])").find("/what_ifs") != std::string::npos);
  CHECK(refused(R"(, "what_ifs": ["flash_atention"])").find("flash_attention") !=
        std::string::npos);
  CHECK(refused(R"(, "what_ifs": ["channels_last"])").find("channels_last") != std::string::npos);
  for (const std::string& more : {std::string(R"(, "jitter": {"ranks": 0.01})"),
                                  std::string(R"(, "schedule": {"kind": "zero_bubble_h1"})")}) {
    const auto none =
        modelled_recording(parsed(scenario_text_of(gpt, R"("pipeline": 2)", 1, more)));
    REQUIRE_FALSE(none.ok());
    CHECK(none.error().message.starts_with("test.json: /"));
  }
  const Session session = session_of(scenario_text_of(gpt, "", 1));
  CHECK(asked(session, {"parallel:data=8,layers=24"}).error().message.find("layers") !=
        std::string::npos);
  CHECK(asked(session, {"parallel:tensor=7"}).error().message.find("tensor") != std::string::npos);
  CHECK(asked(session, {"parallel:data=8,cluster=selenee"}).error().message.find("selene") !=
        std::string::npos);
}

TEST_CASE("law: what-ifs act on the stages of a pipeline, or decline") {
  for (const std::string& plan :
       {std::string(R"("pipeline": 4, "data": 2)"), std::string(R"("pipeline": 2, "tensor": 2)")}) {
    const Session session = session_of(
        R"({"schema": "foretrace.scenario/1", "workload": {"model": "gpt2_small", "sequence": 512},
            "cluster": "selene", "framework": "adaptdl_2021", "precision": "fp32",
            "parallelism": {)" +
        plan + R"(}, "batch": {"global": 16, "micro": 1}})");
    for (const WhatIfInfo* info : what_ifs::all()) {
      CAPTURE(info->name);
      const auto example = example_of(*test::shipped(), *info);
      REQUIRE(example.ok());
      const auto answer = session.ask(std::span(&example->what_if, 1));
      if (answer.ok()) {
        CHECK(answer->step_ns() > 0);
        continue;
      }
      const ErrorCode code = answer.error().code;
      CAPTURE(answer.error().message);
      CHECK((code == ErrorCode::no_match || code == ErrorCode::unsupported ||
             code == ErrorCode::missing_cost || code == ErrorCode::bad_config));
    }
  }
}

/// What a user would ask of a GPT where the shipped example is about another kind of model.
WhatIf what_if_for_gpt(const WhatIfInfo& info) {
  const std::string name(info.name);
  for (const std::string& text :
       {std::string("vdnn_offload"), std::string("tt_embedding:rank=32,hit=0.9")}) {
    if (text.substr(0, text.find(':')) != name) continue;
    auto stack = stack_of({text});
    REQUIRE(stack.ok());
    return std::move(stack->front());
  }
  const auto example = example_of(*test::shipped(), info);
  REQUIRE(example.ok());
  return example->what_if;
}

TEST_CASE("modelled: most what-ifs apply to a GPT, the others say why not") {
  const Session session = session_of(
      R"({"schema": "foretrace.scenario/1", "workload": {"model": "gpt2_medium", "sequence": 1024},
          "cluster": "selene", "framework": "adaptdl_2021", "precision": "fp32",
          "parallelism": {"data": 8}, "batch": {"global": 16, "micro": 1}})");
  std::size_t applied = 0;
  std::string refused;
  for (const WhatIfInfo* info : what_ifs::all()) {
    const WhatIf what_if = what_if_for_gpt(*info);
    const auto answer = session.ask(std::span(&what_if, 1));
    if (answer.ok()) {
      ++applied;
      CHECK(answer->step_ns() > 0);
      continue;
    }
    CHECK(answer.error().message.find(info->name) != std::string::npos);
    refused += fmt::format("\n{}", answer.error().message);
  }
  MESSAGE(applied << " of " << what_ifs::all().size() << " apply; the others:" << refused);
  CHECK(applied >= 45);
}

}  // namespace
}  // namespace foretrace
