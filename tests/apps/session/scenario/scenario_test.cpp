#include "models/jobs/scenario/scenario.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "apps/report/pages/cluster/scenario.h"
#include "apps/report/writers.h"
#include "models/hardware/catalogue/accelerator.h"
#include "models/jobs/figures/scenario_answer.h"
#include "tests/apps/support/program.h"
#include "tests/configs.h"

using foretrace::answer_scenario;
using foretrace::is_scenario_file;
using foretrace::parse_scenario;
using foretrace::read_scenario_of_alike_ranks;

namespace {

const std::string gpt = R"({
  "schema": "foretrace.scenario/1",
  "workload": {"model": "gpt3_175b", "sequence": 2048},
  "cluster": "selene",
  "framework": "megatron_2022",
  "precision": "fp16",
  "parallelism": {"tensor": 8, "pipeline": 8, "sequence": true},
  "schedule": {"kind": "interleaved", "chunks": 3},
  "batch": {"global": 64, "micro": 1},
  "recompute": "selective"
})";

std::string error_with(const std::string& from, const std::string& to) {
  std::string text = gpt;
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  const auto scenario = parse_scenario(*foretrace::test::shipped(), text, "s.json");
  REQUIRE_FALSE(scenario.ok());
  return scenario.error().message;
}

}  // namespace

TEST_CASE("scenario: a model that stands in it is the model of a file with the same members") {
  const auto& catalogue = foretrace::test::shipped();
  const auto named = parse_scenario(*catalogue, gpt, "s.json");
  REQUIRE(named.ok());
  std::ifstream file(FORETRACE_SOURCE_DIR "/configs/models/gpt3_175b.json");
  const std::string model{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::string text = gpt;
  const std::string name = "\"gpt3_175b\"";
  text.replace(text.find(name), name.size(), model);
  const auto stated = parse_scenario(*catalogue, text, "s.json");
  REQUIRE_MESSAGE(stated.ok(), (stated.ok() ? "" : stated.error().message));
  CHECK(stated->model->name == "inline");
  CHECK(answer_scenario(*stated)->step_ns == answer_scenario(*named)->step_ns);

  CHECK(error_with("\"gpt3_175b\"", "{\"family\": \"layer\"}") ==
        "s.json: /workload/model/family: got 'layer' (did you mean 'layers'?), expected "
        "transformer or layers");
  CHECK(error_with("\"gpt3_175b\"", "{}") ==
        "s.json: /workload/model/family: missing key, expected a text");
  CHECK(error_with("\"gpt3_175b\"", R"({"family": "layers", "widest": 8, "blocks": [
            {"name": "a", "operators": [{"product": "p", "inputs": 0, "outputs": 4}]}]})")
            .starts_with("s.json: /workload/model/blocks/0/operators/0/inputs: got "));
  CHECK(error_with("\"gpt3_175b\"", "7").starts_with("s.json: /workload/model: got the number 7"));
}

TEST_CASE("scenario: a file is one by its outermost schema") {
  const auto is_one = [](const std::string& text) {
    const std::string path = foretrace::test::scratch_file("which.json");
    std::ofstream(path, std::ios::binary) << text;
    return is_scenario_file(path);
  };
  CHECK(is_one(gpt));
  CHECK(is_one(
      "// \"schema\": \"no\"\n{ /* { */ \"a\\\"\": [{}], \"schema\" : \"foretrace.scenario/1\"}"));
  CHECK_FALSE(is_one(R"({"scenario": {"schema": "foretrace.scenario/1"}, "schema": "other"})"));
  CHECK_FALSE(
      is_one(R"({"schema": "foretrace.sweep/1", "scenario": {"schema": "foretrace.scenario/1"}})"));
  for (const char* const cut :
       {"", "{", "\"", "{\"schema\"", "{\"schema\":", "{\"schema\": \"", "/*", "//", "/", "}"}) {
    CHECK_FALSE(is_one(cut));
  }
}

TEST_CASE("scenario: wrong ones are one line with file, place, what was got and what is expected") {
  CHECK(
      error_with("\"recompute\"", "\"recmpute\"").find("unknown key (did you mean 'recompute'?)") !=
      std::string::npos);
  CHECK(error_with("\"tensor\": 8", "\"tensor\": 7") ==
        "s.json: /parallelism/tensor: got 7, expected a divisor of the 96 heads");
  CHECK(error_with("\"tensor\": 8", "\"context\": 3, \"tensor\": 8") ==
        "s.json: /parallelism/context: got 3, expected a divisor of the 2048 tokens of a sequence");
  CHECK(
      error_with("\"pipeline\": 8", "\"pipeline\": 64")
          .find(
              "/parallelism/pipeline: got 64 stages x 3 chunks, expected at most the 96 layers") !=
      std::string::npos);
  CHECK(
      error_with("\"tensor\": 8", "\"data\": 1000, \"tensor\": 8")
          .find("/parallelism: got 64000 ranks, expected at most the 4480 accelerators of 'selene' "
                "(add :nodes=8000 to its name for more)") != std::string::npos);
  CHECK(error_with("\"global\": 64", "\"global\": 65, \"micr\": 1")
            .find("/batch/micr': unknown key (did you mean 'micro'?)") != std::string::npos);
  CHECK(
      error_with("\"global\": 64", "\"global\": 60")
          .find(
              "/schedule: interleaved: 60 of micro-batches, expected a multiple of the 8 stages") !=
      std::string::npos);
  const std::string batch = "},\n  \"batch\": {\"global\": 64, \"micro\": 1},\n  \"recompute\": ";
  CHECK(error_with("\"interleaved\", \"chunks\": 3" + batch + "\"selective\"",
                   "\"zero_bubble_h1\"" + batch + "\"full\"")
            .find("/recompute: got full, expected none or selective") != std::string::npos);
  CHECK(error_with("\"interleaved\"", "\"interleavd\"").find("did you mean 'interleaved'?") !=
        std::string::npos);
  CHECK(error_with("\"selene\"", "\"selen\"").find("did you mean 'selene'?") != std::string::npos);
  CHECK(error_with("\"gpt3_175b\"", "\"gpt3_175c\"").find("did you mean 'gpt3_175b'?") !=
        std::string::npos);
  CHECK(error_with("\"fp16\"", "\"fp17\"").find("/precision: got 'fp17' (did you mean 'fp16'?)") !=
        std::string::npos);
  CHECK(error_with("foretrace.scenario/1", "foretrace.scenario/9").find("s.json") == 0);
  CHECK(error_with("\"sequence\": 2048", "\"sequence\": \"2048\"").find("/workload/sequence") !=
        std::string::npos);
}

TEST_CASE("scenario: samples of a model of layers have no tokens") {
  const auto read = [](const std::string& sequence) {
    return parse_scenario(*foretrace::test::shipped(), R"({"schema": "foretrace.scenario/1",
        "workload": {"model": "resnet50")" + sequence + R"(}, "cluster": "dgx1_v100",
        "framework": "nvidia_bert_2021", "precision": "fp16", "parallelism": {"data": 8},
        "batch": {"global": 2048, "micro": 256}})",
                          "s.json");
  };
  const auto refused = read(R"(, "sequence": 2048)");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message ==
        "s.json: /workload/sequence: a sample has no tokens, got 2048, expected 1");
  const auto scenario = read("");
  REQUIRE_MESSAGE(scenario.ok(), scenario.error().message);
  CHECK(read(R"(, "sequence": 1)").ok());
  const auto answer = answer_scenario(*scenario);
  REQUIRE_MESSAGE(answer.ok(), answer.error().message);
  const std::string page =
      foretrace::report::text_of(foretrace::report::scenario_page({*scenario, *answer, ""}));
  CHECK(page.find("samples/s") != std::string::npos);
  CHECK(page.find("2048 samples, micro-batch 256") != std::string::npos);
  CHECK(page.find("token") == std::string::npos);
}

TEST_CASE("scenario: amounts that no whole number of ns or bytes holds are refused") {
  // Each size is one that a file may state.
  const auto error_of = [](const std::string& sizes, const std::string& batch) {
    const std::string model =
        (std::filesystem::temp_directory_path() / "foretrace_huge_model.json").string();
    std::ofstream(model) << R"({"schema": "foretrace.model/1", "product": "Huge", "source": "x",
        "family": "transformer", "heads": 1, "vocabulary": 1000, )" +
                                sizes + "}";
    const auto scenario = parse_scenario(*foretrace::test::shipped(),
                                         R"({
        "schema": "foretrace.scenario/1", "workload": {"model": ")" +
                                             model + R"("},
        "cluster": "dgx_h100", "framework": "megatron_core", "batch": )" +
                                             batch + "}",
                                         "s.json");
    return scenario.ok() ? std::string() : scenario.error().message;
  };
  CHECK(error_of(R"("layers": 100000, "hidden": 1e7, "ffn": 1e7)", R"({"global": 8})")
            .find("s.json: /workload/model: got 6e+19 parameters, expected at most 1e+16") == 0);
  CHECK(error_of(R"("layers": 100, "hidden": 1e6, "ffn": 1e6)",
                 R"({"global": 16384000, "micro": 1000})")
            .find("s.json: /batch/global: got a step of ") == 0);
  CHECK(error_of(R"("layers": 100, "hidden": 1e4, "ffn": 1e4)", R"({"global": 8})").empty());
}

TEST_CASE("scenario: the shipped ones read and are answered") {
  std::size_t found = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(FORETRACE_SOURCE_DIR "/configs/scenarios")) {
    CAPTURE(file.path().string());
    REQUIRE(is_scenario_file(file.path().string()));
    const auto scenario =
        read_scenario_of_alike_ranks(*foretrace::test::shipped(), file.path().string());
    REQUIRE_MESSAGE(scenario.ok(), scenario.error().message);
    const auto answer = answer_scenario(*scenario);
    REQUIRE_MESSAGE(answer.ok(), answer.error().message);
    CHECK(answer->step_ns > 0);
    CHECK(answer->figures.flops_utilization > 0.01);
    CHECK(answer->figures.flops_utilization < 1);
    CHECK(answer->range.low_ns < answer->range.high_ns);
    // The formula is the simulated step, or an estimate of it.
    const double ratio =
        static_cast<double>(answer->analytic.step_ns) / static_cast<double>(answer->step_ns);
    CHECK(ratio == doctest::Approx(1).epsilon(0.05));
    ++found;
  }
  CHECK(found >= 1);
}

TEST_CASE("scenario: every schedule takes as long as simulated, where it says so") {
  // Sends beside computation, copies that add up their gradients when a stage is done.
  for (const auto* schedule : foretrace::schedules::all()) {
    for (const bool wide : {false, true}) {
      const std::uint32_t chunks = std::min(2U, schedule->most_chunks);
      const auto scenario = parse_scenario(
          *foretrace::test::shipped(),
          fmt::format(R"({{"schema": "foretrace.scenario/1",
              "workload": {{"model": "gpt_22b", "sequence": 2048}}, "cluster": "selene",
              "framework": "megatron_core", "precision": "bf16",
              "parallelism": {{"data": {}, "tensor": {}, "pipeline": 4, "sequence": true}},
              "schedule": {{"kind": "{}", "chunks": {}}}, "batch": {{"global": {}, "micro": 1}}}})",
                      wide ? 4 : 2, wide ? 4 : 8, schedule->name, chunks, wide ? 64 : 32),
          "s.json");
      CAPTURE(schedule->name);
      REQUIRE_MESSAGE(scenario.ok(), scenario.error().message);
      const auto answer = answer_scenario(*scenario);
      REQUIRE_MESSAGE(answer.ok(), answer.error().message);
      if (schedule->formula == nullptr || schedule->name == "gpipe") {
        CHECK(answer->formula_is_exact());
      } else {
        CHECK(static_cast<double>(answer->analytic.step_ns) ==
              doctest::Approx(static_cast<double>(answer->step_ns)).epsilon(0.05));
      }
    }
  }
}

TEST_CASE(
    "scenario: GPT-3 175B on 64 GPUs of Selene is within its range of the published 13.75 s") {
  // Korthikanti et al., MLSys 2023, Table 5: sequence parallelism and selective recomputation
  const auto scenario = parse_scenario(*foretrace::test::shipped(), gpt, "s.json");
  REQUIRE(scenario.ok());
  const auto answer = answer_scenario(*scenario);
  REQUIRE(answer.ok());
  CHECK(answer->parameters * 1e-9 == doctest::Approx(174.6).epsilon(0.001));
  CHECK(static_cast<double>(answer->step_ns) * 1e-9 == doctest::Approx(13.75).epsilon(0.04));
  CHECK(answer->range.low_ns <= 13'750'000'000);
  CHECK(answer->range.high_ns >= 13'750'000'000);
  CHECK(answer->fits);
}

TEST_CASE("scenario: with jitter every rank is simulated, and groups wait for their slowest") {
  const auto answered = [](const std::string& jitter) {
    std::string text = gpt;
    text.replace(text.find("\"recompute\""), 0, jitter);
    const auto scenario = parse_scenario(*foretrace::test::shipped(), text, "s.json");
    REQUIRE_MESSAGE(scenario.ok(), scenario.error().message);
    auto answer = answer_scenario(*scenario);
    REQUIRE_MESSAGE(answer.ok(), answer.error().message);
    return *std::move(answer);
  };
  const auto alike = answered("");
  const auto none = answered(R"("jitter": {}, )");
  CHECK(none.step_ns == alike.step_ns);
  CHECK(none.alike_ns == alike.step_ns);
  CHECK(none.graph.size() > 8 * alike.graph.size());
  CHECK(none.range.low_ns == alike.range.low_ns);
  const auto some = answered(R"("jitter": {"ranks": 0.01, "passes": 0.02, "seed": 1}, )");
  CHECK(some.alike_ns == alike.step_ns);
  CHECK(some.step_ns > alike.step_ns * 101 / 100);
  CHECK(some.step_ns < alike.step_ns * 110 / 100);
  CHECK(some.range.high_ns > alike.range.high_ns);
  CHECK(some.figures.tokens_per_s < alike.figures.tokens_per_s);
  CHECK(answered(R"("jitter": {"ranks": 0.01, "passes": 0.02}, )").step_ns == some.step_ns);
  CHECK(answered(R"("jitter": {"ranks": 0.01, "passes": 0.02, "seed": 2}, )").step_ns !=
        some.step_ns);
}

TEST_CASE("scenario: with jitter parts sum to the step, and one rank waits for no other") {
  // Seeds that make the only rank faster, and slower, than it is without.
  bool was_faster = false;
  bool was_slower = false;
  for (const int seed : {1, 2, 3, 4, 5, 6, 7, 8}) {
    CAPTURE(seed);
    const auto scenario = parse_scenario(*foretrace::test::shipped(),
                                         fmt::format(R"({{"schema": "foretrace.scenario/1",
            "workload": {{"model": "gpt2_small", "sequence": 1024}}, "cluster": "dgx_a100",
            "framework": "megatron_2022", "batch": {{"global": 1}},
            "jitter": {{"ranks": 0.1, "passes": 0, "seed": {}}}}})",
                                                     seed),
                                         "s.json");
    REQUIRE_MESSAGE(scenario.ok(), scenario.error().message);
    const auto answer = answer_scenario(*scenario);
    REQUIRE_MESSAGE(answer.ok(), answer.error().message);
    was_faster = was_faster || answer->step_ns < answer->alike_ns;
    was_slower = was_slower || answer->step_ns > answer->alike_ns;
    const auto page = foretrace::report::scenario_page({*scenario, *answer, ""});
    CHECK(foretrace::report::text_of(page).find("waiting for slower ranks") == std::string::npos);
    const auto json = foretrace::parse_config_document(foretrace::report::json_of(page), "answer",
                                                       "foretrace.result/2");
    REQUIRE_MESSAGE(json.ok(), json.error().message);
    const auto* parts = json->find("predicted")->find("breakdown");
    double sum = 0;
    for (const auto& part : parts->items) {
      CHECK(std::stod(part.text) >= 0);
      sum += std::stod(part.text);
    }
    CHECK(sum == static_cast<double>(answer->step_ns));
  }
  CHECK(was_faster);
  CHECK(was_slower);
}

TEST_CASE("scenario: mistakes of jitter have their place, and other commands refuse it") {
  const auto mistake = [](const std::string& jitter) {
    return error_with("\"recompute\"", "\"jitter\": " + jitter + ", \"recompute\"");
  };
  CHECK(mistake(R"({"ranks": 0.5})").find("s.json: /jitter/ranks: got 0.5, expected") == 0);
  CHECK(mistake(R"({"passes": -0.1})").find("s.json: /jitter/passes: got -0.1, expected") == 0);
  CHECK(mistake(R"({"seed": 1.5})").find("s.json: /jitter/seed: ") == 0);
  CHECK(mistake(R"({"rank": 0.1})").find("unknown key (did you mean 'ranks'?)") !=
        std::string::npos);
  CHECK(mistake("0.1").find("s.json: /jitter: ") == 0);
  const std::string path =
      (std::filesystem::temp_directory_path() / "foretrace_jitter_scenario.json").string();
  std::string text = gpt;
  text.replace(text.find("\"recompute\""), 0, R"("jitter": {"ranks": 0.01}, )");
  std::ofstream(path) << text;
  CHECK(foretrace::read_scenario(*foretrace::test::shipped(), path).ok());
  const auto strict = read_scenario_of_alike_ranks(*foretrace::test::shipped(), path);
  REQUIRE_FALSE(strict.ok());
  CHECK(strict.error().message ==
        path + ": /jitter: got ranks that differ, expected none: only simulate supports them");
}

TEST_CASE("scenario: what does not fit is an answer that names the stage") {
  std::string text = gpt;
  text.replace(text.find("\"pipeline\": 8"), 13, "\"pipeline\": 2");
  const auto scenario = parse_scenario(*foretrace::test::shipped(), text, "s.json");
  REQUIRE_MESSAGE(scenario.ok(), scenario.error().message);
  const auto answer = answer_scenario(*scenario);
  REQUIRE(answer.ok());
  CHECK_FALSE(answer->fits);
  CHECK(answer->fullest_stage == 0);
}
