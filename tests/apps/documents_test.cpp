// The JSON that the program prints, against the schemas that are shipped with it.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/apps/support/json_schema.h"
#include "tests/apps/support/program.h"

namespace foretrace::test {
namespace {

using nlohmann::json;

json document_of(const std::string& arguments, int code = 0) {
  const Ran ran = run_program(arguments);
  INFO(arguments << ": " << ran.err);
  REQUIRE(ran.code == code);
  return json::parse(ran.out);  // exactly one document, or this throws
}

void check_against(const std::string& schema, const json& document) {
  for (const std::string& violation : violations(read_schema(schema), document)) {
    FAIL_CHECK(schema << violation);
  }
}

std::int64_t breakdown_sum(const json& run) {
  std::int64_t sum = 0;
  for (const auto& [name, part] : run["breakdown"].items()) {
    sum += part.get<std::int64_t>();
  }
  return sum;
}

TEST_CASE("the checker sees a wrong type, a missing and an unknown key") {
  const json schema = json::parse(
      R"({"type": "object", "required": ["a"], "additionalProperties": false,
          "properties": {"a": {"type": "integer", "minimum": 0}}})");
  CHECK(violations(schema, json::parse(R"({"a": 1})")).empty());
  CHECK(violations(schema, json::parse(R"({"a": "x"})")).size() == 1);
  CHECK(violations(schema, json::parse(R"({"a": -1})")).size() == 1);
  CHECK(violations(schema, json::parse("{}")).size() == 1);
  CHECK(violations(schema, json::parse(R"({"a": 1, "b": 2})")).size() == 1);
  const json one = json::parse(R"({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]})");
  CHECK(violations(one, json::parse(R"({"a": 1})")).empty());
  CHECK(violations(one, json::parse("{}")).size() == 1);
  CHECK(violations(one, json::parse(R"({"a": 1, "b": 2})")).size() == 1);
  CHECK(violations(json::parse(R"({"pattern": "x"})"), json("y")).size() == 1);
}

TEST_CASE("a comparison follows its schema, and its reasons add up to the difference") {
  const std::string demo(demo_trace);
  const json document = document_of("compare " + demo + " " + demo + " --json");
  check_against("compare-1.json", document);
  CHECK(document["change_ns"] == 0);
  const json checked =
      document_of("whatif " + demo + " --apply mixed_precision --check " + demo + " --json");
  check_against("compare-1.json", checked);
  CHECK(checked["before"]["measured_ns"].is_null());
  CHECK(checked["change_ns"] != 0);
  std::int64_t sum = 0;
  for (const json& reason : checked["reasons"]) sum += reason["change_ns"].get<std::int64_t>();
  CHECK(sum == checked["change_ns"]);
}

TEST_CASE("two runs on one device follow their schema, and neither gets faster") {
  const std::string demo = demo_trace;
  const json beside = document_of("corun " + demo + " " + demo + " --json");
  check_against("corun-1.json", beside);
  REQUIRE(beside["ways"].size() == 3);
  // Two of a kind fare alike, and no way to share makes either faster than alone.
  for (const json& way : beside["ways"]) {
    CHECK(way["first_step_ns"].get<double>() ==
          doctest::Approx(way["second_step_ns"].get<double>()).epsilon(1e-3));
    CHECK(way["first_step_ns"] >= beside["runs"][0]["step_ns"]);
    CHECK(way["together"].get<double>() <= 2.0);
  }
  CHECK(run_program("corun " + demo).code == 2);
}

TEST_CASE("plans of unequal stages and training runs follow their schemas") {
  const json stages = document_of(
      "plan examples/recipes/scenarios/unequal_layers.json --cluster aws_g4dn --gpus 4 --batch 64 "
      "--precision fp16 --stages auto --json");
  check_against("stages-2.json", stages);
  REQUIRE_FALSE(stages["plans"].empty());
  CHECK(stages["plans"][0]["step_ns"] < stages["even"][0]["step_ns"]);
  const json nothing = document_of(
      "plan gpt3_175b --cluster aws_g4dn --gpus 4 --batch 4 --precision fp16 --stages auto --json",
      1);
  check_against("stages-2.json", nothing);
  CHECK(nothing["plans"].empty());
  const json training = document_of("simulate examples/recipes/scenarios/bert_target.json --json");
  check_against("training_result-1.json", training);
  CHECK(training["batches"].size() == 5);
}

TEST_CASE("plans follow their schema, and say what they rest on") {
  const json document =
      document_of("plan llama3_8b --cluster dgx_a100 --gpus 8..16 --batch 64 --json");
  check_against("plan-2.json", document);
  CHECK(document["plans"].size() == 5);
  CHECK(document["scaling"].size() == 4);
  CHECK(document["input"]["devices"] == 16);
  // Exit 1: the answer is that nothing fits.
  const json nothing = document_of("plan gpt3_175b --cluster dgx_a100 --gpus 8 --json", 1);
  check_against("plan-2.json", nothing);
  CHECK(nothing["plans"].empty());
  const json recorded =
      document_of("plan " + std::string(demo_trace) + " --cluster dgx_a100 --gpus 8 --json");
  check_against("recorded_plans-2.json", recorded);
  CHECK(recorded["plans"].size() + recorded["larger_batches"].size() + recorded["refused"].size() ==
        recorded["input"]["tried"]);
  CHECK(run_program("plan " + std::string(demo_trace) + " --cluster dgx_a100 --batch 8").code == 2);
  CHECK(run_program("plan llama3_8b --cluster dgx_a100 --gpus 16..8")
            .err.find("expected the smaller number first: 8..16") != std::string::npos);
}

TEST_CASE("a replay follows its schema and its breakdown sums to the step") {
  const json document = document_of(std::string("simulate ") + demo_trace + " --json");
  check_against("result-2.json", document);
  CHECK(breakdown_sum(document["baseline"]) == document["baseline"]["step_ns"]);
  CHECK_FALSE(document.contains("predicted"));
  // The demo is generated by the rules that the graph is built from: it must be met to the ns
  // scale.
  CHECK(std::abs(document["baseline"]["error"].get<double>()) < 1e-3);
}

TEST_CASE("the profiler's work is told where the host limits, and taken out where that is asked") {
  const std::string decode = "simulate examples/traces/h200/decode.baseline.ftr.gz --json";
  const json recorded = document_of(decode);
  check_against("result-2.json", recorded);
  CHECK(recorded["profiler"]["events_per_step"] > 3000);
  CHECK(recorded["profiler"]["in_host_times"] == true);
  CHECK(recorded["honesty"]["doubt"].empty());
  const json without = document_of(decode + " --unprofiled-step 6.09ms");
  check_against("result-2.json", without);
  CHECK(without["profiler"]["in_host_times"] == false);
  CHECK(without["measured"]["step_ns"] == 6'090'000);
  CHECK(without["measured"]["is_given"] == true);
  CHECK(recorded["measured"]["is_given"] == false);
  CHECK(without["measured"]["device_period_ns"].is_null());
  CHECK(breakdown_sum(without["baseline"]) == without["baseline"]["step_ns"]);
  const std::string page =
      run_program("simulate examples/traces/h200/decode.baseline.ftr.gz --unprofiled-step 6.09ms")
          .out;
  CHECK(page.find("step 6.090 ms as given, ") != std::string::npos);
  CHECK(page.find(" measured") == std::string::npos);
  // The device limits GPT-2: its host does not matter, and its step does not tell it.
  const std::string gpt2 = "simulate examples/traces/h200/gpt2.baseline.ftr.gz --json";
  CHECK_FALSE(document_of(gpt2).contains("profiler"));
  const json path = document_of("critical-path examples/traces/h200/decode.baseline.ftr.gz --json");
  check_against("critical-path-1.json", path);
  CHECK(path["profiler"]["events_per_step"] == recorded["profiler"]["events_per_step"]);
  // In bf16 the host limits it: the range's low end allows for what the profiler may have cost.
  const std::string in_bf16 =
      "whatif examples/traces/h200/gpt2.baseline.ftr.gz --apply mixed_precision:dtype=bf16";
  const json halved = document_of(in_bf16 + " --json");
  check_against("result-2.json", halved);
  CHECK(halved["profiler"]["range_event_ns"] == 3'900);
  CHECK(halved["predicted"]["range"]["faster"]["profiler"] > 0.3);
  CHECK(halved["predicted"]["range"]["slower"]["profiler"] == 0);
  CHECK(run_program(in_bf16).out.find("range allows up to 3.9 us per event") != std::string::npos);
  // Every question gives the same range.
  const json ranking = document_of(
      "whatif examples/traces/h200/gpt2.baseline.ftr.gz --rank-all --json")["ranking"]["rows"];
  CHECK(std::any_of(ranking.begin(), ranking.end(), [&](const json& row) {
    return row["name"] == "mixed_precision" && row["low_ns"] == halved["predicted"]["low_ns"];
  }));
  CHECK(run_program(gpt2 + " --unprofiled-step 202.66ms").code == 2);
  // Nor does that of the demo, whose predicted step the host limits: the page does not ask for it.
  const std::string demo = std::string("whatif ") + demo_trace + " --apply mixed_precision";
  const std::string faster = run_program(demo).out;
  CHECK(faster.find("CPU times include profiler overhead") != std::string::npos);
  CHECK(faster.find("--unprofiled-step") == std::string::npos);
  CHECK(run_program(demo + " --unprofiled-step 45ms").code == 2);
  const Ran wrong = run_program(decode + " --unprofiled-step 6.09");
  CHECK(wrong.code == 2);
  CHECK(wrong.err.find("unprofiled step: got '6.09', expected a time") != std::string::npos);
}

TEST_CASE(
    "a scenario follows the schema: nothing is measured, and its breakdown sums to the step") {
  const json document = document_of("simulate configs/scenarios/gpt3_175b_selene.json --json");
  check_against("result-2.json", document);
  CHECK(document["measured"].is_null());
  CHECK(document["baseline"].is_null());
  CHECK(breakdown_sum(document["predicted"]) == document["predicted"]["step_ns"]);
  CHECK(document["predicted"]["memory"].size() == 8);
  CHECK(document["scenario"]["ranks"] == 64);
  const Ran wrong = run_program("simulate tests/fixtures/scenarios/unknown_key.json");
  CHECK(wrong.code == 2);
  CHECK(wrong.err.find("/batch/glob': unknown key (did you mean 'global'?)") != std::string::npos);
}

TEST_CASE("a what-if follows the schema, and its speedup is one over the ratio of both steps") {
  const json document =
      document_of(std::string("whatif ") + demo_trace +
                  " --apply \"scale:select='resource=device',factor=0.5\" --json");
  check_against("result-2.json", document);
  CHECK(breakdown_sum(document["predicted"]) == document["predicted"]["step_ns"]);
  const double before = document["baseline"]["step_ns"].get<double>();
  const double after = document["predicted"]["step_ns"].get<double>();
  CHECK(document["speedup"].get<double>() == doctest::Approx(before / after));
  CHECK(document["time_ratio"].get<double>() == doctest::Approx(after / before));
  CHECK(after < before);
  CHECK(document["predicted"]["low_ns"] <= document["predicted"]["step_ns"]);
  CHECK(document["predicted"]["high_ns"] >= document["predicted"]["step_ns"]);
  CHECK(document["applied"][0]["name"] == "scale");
}

TEST_CASE("scaling by 1 is the run as it was recorded, and says so") {
  const json document = document_of(std::string("whatif ") + demo_trace +
                                    " --apply \"scale:select='resource=device',factor=1\" --json");
  CHECK(document["predicted"]["step_ns"] == document["baseline"]["step_ns"]);
  CHECK(document["applied"][0]["tasks_changed"] == 0);
  const auto note = document["applied"][0]["notes"][0].get<std::string>();
  CHECK(note.starts_with("changes nothing: "));
}

TEST_CASE("scaling what is not there is no answer: exit code 1 and the reason") {
  const Ran ran = run_program(std::string("whatif ") + demo_trace +
                              " --apply \"scale:select='name~nowhere',factor=1\" --json");
  CHECK(ran.code == 1);
  CHECK(ran.err.find("no task matches ") != std::string::npos);
}

TEST_CASE("what-ifs have one order: what is typed first does not matter") {
  const std::string one = "--apply cuda_graph --apply fused_optimizer";
  const std::string other = "--apply fused_optimizer --apply cuda_graph";
  const auto predicted = [](const std::string& stack) {
    return document_of(std::string("whatif ") + demo_trace + " " + stack + " --json")["predicted"];
  };
  CHECK(predicted(one) == predicted(other));
}

TEST_CASE("a run within a memory budget follows the schema, whether it fits or not") {
  const std::string start = std::string("simulate ") + FORETRACE_SOURCE_DIR +
                            "/tests/golden/simulate_in_a_memory_budget/trace.json --json ";
  // Named before use: clang 14 cannot capture structured bindings.
  for (const auto& run : {std::pair{"--memory-budget 87.5% --when-full dtr", 0},
                          {"--memory-budget 87.5% --when-full delta", 0},
                          {"--memory-budget 87.5% --when-full fail", 1},
                          {"--memory-budget 56% --when-full dtr", 1}}) {
    const char* const rest = run.first;
    const int code = run.second;
    CAPTURE(rest);
    const json document = document_of(start + rest, code);
    check_against("result-2.json", document);
    const json& budget = document["baseline"]["memory_budget"];
    CHECK(budget["fits"] == (code == 0));
    CHECK(budget["stop"].is_null() == (code == 0));
  }
}

constexpr const char* demo_memory_trace = "examples/traces/demo_generated_cnn_memory.json.gz";

TEST_CASE("pairs, what fits and the largest batch follow the schema") {
  const std::string command = std::string("whatif ") + demo_memory_trace;
  const json pairs = document_of(command + " --pairs --by memory --top 4 --json");
  check_against("result-2.json", pairs);
  CHECK(pairs["ranking"]["by"] == "memory");
  CHECK(pairs["pairs"]["singles"].size() == 4);
  const json fit = document_of(command + " --fit 1GiB --json");
  check_against("result-2.json", fit);
  // The set that is the answer is the prediction of the document.
  CHECK(fit["fit"]["best"]["step_ns"] == fit["predicted"]["step_ns"]);
  CHECK(fit["fit"]["best"]["memory"]["live_peak_bytes"] ==
        fit["predicted"]["memory"]["0/0"]["allocated_peak_bytes"]);
  CHECK(fit["applied"].size() == fit["fit"]["best"]["what_ifs"].size());
  const json roomy = document_of(command + " --fit a100_sxm_80gb --json");
  check_against("result-2.json", roomy);
  CHECK(roomy["fit"]["best"].is_null());
  CHECK(roomy["fit"]["now"]["fits"] == true);
  CHECK_FALSE(roomy.contains("predicted"));
  check_against("result-2.json", document_of(command + " --fit 610MiB --json", 1));
  const json search = document_of(command + " --search --members 3 --json");
  check_against("result-2.json", search);
  CHECK(search["search"]["members"].size() == 3);
  CHECK(search["search"]["best"]["step_ns"] == search["predicted"]["step_ns"]);
  check_against("result-2.json", document_of(command + " --search --fit 10MiB --json", 1));
  const json batch = document_of(command + " --max-batch --fit 8GiB --json");
  check_against("result-2.json", batch);
  CHECK(batch["max_batch"]["max_batch"] > 64);
}

TEST_CASE("a ranking follows the schema and falls") {
  const json document = document_of(std::string("whatif ") + demo_trace + " --rank-all --json");
  check_against("result-2.json", document);
  const json& rows = document["ranking"]["rows"];
  REQUIRE(rows.size() >= 2);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    CHECK(rows[i - 1]["step_ns"] <= rows[i]["step_ns"]);
  }
}

TEST_CASE("with examples a ranking holds more rows, each with its settings") {
  const json plain = document_of("whatif " + std::string(demo_trace) + " --rank-all --json");
  const json more =
      document_of("whatif " + std::string(demo_trace) + " --rank-all --examples --json");
  check_against("result-2.json", more);
  CHECK(more["ranking"]["rows"].size() > plain["ranking"]["rows"].size());
  std::size_t examples = 0;
  for (const json& row : more["ranking"]["rows"]) {
    const std::string settings = row["example"];
    examples += settings.empty() ? 0 : 1;
    CHECK((row["name"] == "batch_size") == (settings == "factor=2"));
  }
  CHECK(examples == more["ranking"]["rows"].size() - plain["ranking"]["rows"].size());
}

TEST_CASE("a ranking names what failed, and why, on its shortest page and in its document") {
  // Of a device that no file knows nothing says what other number types would take.
  const std::string original =
      FORETRACE_SOURCE_DIR "/tests/fixtures/kineto_json/training_2024.json";
  std::ifstream file(original, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::string known = "NVIDIA A100-SXM4-40GB";
  for (auto at = text.find(known); at != std::string::npos; at = text.find(known)) {
    text.replace(at, known.size(), "NVIDIA Nobody's");
  }
  const std::string path = scratch_file("nobody.json");
  std::ofstream(path, std::ios::binary) << text;
  const json document = document_of("whatif '" + path + "' --rank-all --json");
  check_against("result-2.json", document);
  const Ran page = run_program("whatif '" + path + "' --rank-all");
  std::size_t failed = 0;
  for (const json& row : document["ranking"]["left_out"]) {
    const std::string name = row["name"];
    const bool is_told = page.out.find("  " + name + ": ") != std::string::npos;
    CHECK(is_told == (row["cause"] == "failed"));
    failed += is_told ? 1 : 0;
  }
  CHECK(failed > 0);
  CHECK(page.out.find(", " + std::to_string(failed) + " failed") != std::string::npos);
}

TEST_CASE("an inspection follows its schema, one entry per trace") {
  const json document =
      document_of(std::string("inspect ") + demo_trace + " " + demo_trace + " --json");
  check_against("inspect-1.json", document);
  CHECK(document["traces"].size() == 2);
}

TEST_CASE("the pieces and the shares of a critical path sum to its length") {
  const json document = document_of(std::string("critical-path ") + demo_trace + " --json");
  check_against("critical-path-1.json", document);
  std::int64_t pieces = 0;
  for (const auto& piece : document["pieces"]) {
    pieces += piece["duration_ns"].get<std::int64_t>();
  }
  std::int64_t shares = 0;
  for (const auto& [name, share] : document["shares"].items()) {
    shares += share.get<std::int64_t>();
  }
  CHECK(pieces == document["total_ns"]);
  CHECK(shares == document["total_ns"]);
}

TEST_CASE("list prints an array with what every optimization promises") {
  const json list = document_of("list optimizations --json");
  REQUIRE(list.is_array());
  REQUIRE_FALSE(list.empty());
  for (const auto& entry : list) {
    CHECK_FALSE(entry["name"].get<std::string>().empty());
    CHECK_FALSE(entry["summary"].get<std::string>().empty());
    CHECK_FALSE(entry["paper"].get<std::string>().empty());
    CHECK_FALSE(entry["assumptions"].empty());
    for (const auto& parameter : entry["parameters"]) {
      CHECK(parameter.contains("name"));
      CHECK(parameter.contains("unit"));
      CHECK(parameter.contains("default"));
      CHECK(parameter.contains("doc"));
    }
  }
}

TEST_CASE("a report of memory follows its schema and adds up") {
  const json document =
      document_of("inspect tests/fixtures/kineto_json/training_2024.json --memory --json");
  check_against("inspect-1.json", document);
  const json& devices = document["traces"][0]["device_memory"]["devices"];
  REQUIRE(devices.size() == 1);
  std::int64_t held = 0;
  for (const json& share : devices[0]["categories"]) held += share["bytes"].get<std::int64_t>();
  CHECK(held == devices[0]["allocated_peak_bytes"]);
  CHECK(devices[0]["reserved"]["low_bytes"] == devices[0]["allocated_peak_bytes"]);
  CHECK(devices[0]["reserved"]["high_bytes"] >= devices[0]["reserved"]["low_bytes"]);
  CHECK(devices[0]["curve"]["live_bytes"].size() == devices[0]["events"]);
  CHECK_FALSE(
      document_of("inspect tests/fixtures/kineto_json/training_2024.json --json")["traces"][0]
          .contains("device_memory"));
}

TEST_CASE("every other command follows its schema") {
  for (const auto& run :
       {std::pair{"list-1.json", "list"},
        {"list-1.json", "list optimizations"},
        {"list-1.json", "list policies"},
        {"list-1.json", "list schedulers"},
        {"list-1.json", "list placements"},
        {"list-1.json", "list accelerators"},
        {"list-1.json", "list readers"},
        {"list-1.json", "list writers"},
        {"list-1.json", "list words"},
        {"explain-1.json", "explain mixed_precision"},
        {"explain-1.json", "explain dtr"},
        {"explain-1.json", "explain srtf"},
        {"explain-1.json", "explain pack"},
        {"explain-1.json", "explain lifetime_alignment"},
        {"explain-1.json", "explain t4"},
        {"explain-1.json", "explain kineto_json"},
        {"explain-1.json", "explain unexplained"},
        {"completion-1.json", "completion bash"},
        {"completion-1.json", "completion zsh"},
        {"completion-1.json", "completion fish"},
        {"formats-1.json", "validate --formats --data tests/fixtures/xplane"},
        {"validation-1.json", "validate --data examples/traces"},
        {"validation-1.json", "validate --jobs --data examples/traces"},
        {"schedule_result-1.json",
         "schedule examples/recipes/schedule/heterogeneous.json --policy srtf"},
        {"streams_result-1.json", "simulate examples/recipes/served_models/mlperf_loads.json"},
        {"streams_result-1.json", "simulate examples/recipes/served_models/xrbench.json"},
        {"streams_result-1.json", "simulate examples/recipes/fleets/control_loop.json"},
        {"streams_result-1.json", "simulate examples/recipes/fleets/supernet.json"},
        {"node_job_result-1.json", "simulate examples/recipes/scenarios/two_ranks.json"},
        {"storage_result-1.json", "simulate examples/recipes/fleets/storage.json"},
        {"federated_result-1.json", "simulate examples/recipes/fleets/phones.json"},
        {"schedule_result-1.json", "schedule examples/recipes/fleets/machines.json"},
        {"serving_result-1.json", "simulate examples/recipes/served_models/llama3_8b.json"},
        {"communication-1.json", "inspect --communication tests/fixtures/job"},
        {"costs-1.json",
         "calibrate --accelerator a100_sxm_80gb "
         "tests/fixtures/operators/made_up_gemm.json"}}) {
    const char* const schema = run.first;
    const std::string arguments = run.second;
    CAPTURE(arguments);
    check_against(schema, document_of(arguments + " --json"));
  }
  check_against("convert-1.json", document_of(std::string("convert ") + demo_trace + " '" +
                                              scratch_file("copy.json") + "' --scrub --json"));
  check_against("export-1.json",
                document_of("export configs/scenarios/llama3_70b_prefill.json --json --chakra '" +
                            scratch_file("documented_export") + "'"));
  const Ran again = run_program("export configs/scenarios/llama3_70b_prefill.json --chakra '" +
                                scratch_file("documented_export") + "'");
  CHECK(again.code == 2);
  CHECK(again.err.find("already, expected a folder without an export") != std::string::npos);
  const std::string folder = scratch_file("documented_sweep");
  check_against(
      "sweep_result-2.json",
      document_of("sweep examples/recipes/sweeps/gpt3_512.json -o '" + folder + "' --json"));
  check_against("sweep_result-2.json", document_of("sweep '" + folder + "' --show --json"));
}

TEST_CASE("validate says where published tables are read now") {
  for (const char* const moved : {"--tables", "--claims --data"}) {
    const Ran ran = run_program("validate " + std::string(moved) + " .");
    CHECK(ran.code == 2);
    CHECK(ran.err.find("is read by foretrace-validate") != std::string::npos);
  }
}

TEST_CASE("every command that prints JSON names a schema that is shipped") {
  // Documents name theirs; these print one without a name.
  const std::vector<std::string> names = {
      "result-2",           "inspect-1",        "critical-path-1",  "communication-1",
      "validation-1",       "formats-1",        "costs-1",          "list-1",
      "explain-1",          "convert-1",        "completion-1",     "schedule_result-1",
      "sweep_result-2",     "plan-2",           "recorded_plans-2", "stages-2",
      "training_result-1",  "export-1",         "serving_result-1", "streams_result-1",
      "mapping_result-1",   "corun-1",          "serve-1",          "storage_result-1",
      "federated_result-1", "node_job_result-1"};
  for (const std::string& name : names) {
    const json schema = read_schema(name + ".json");
    const std::size_t dash = name.rfind('-');
    CHECK(schema["$id"] == "foretrace." + name.substr(0, dash) + "/" + name.substr(dash + 1));
  }
}

}  // namespace
}  // namespace foretrace::test
