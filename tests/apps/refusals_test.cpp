// What a user would lose, or believe to have got, is refused before the work.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

#include "tests/apps/support/program.h"

namespace foretrace::test {
namespace {

const std::string demo = demo_trace;

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// A copy of a file of the project, with one text replaced by another.
std::string copy_of(const std::string& original, const std::string& name,
                    const std::string& from = "", const std::string& to = "") {
  std::string text = text_of(FORETRACE_SOURCE_DIR "/" + original);
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  std::string path = scratch_file(name);
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

/// One line, exit code 2.
std::string refusal_of(const std::string& arguments) {
  const Ran ran = run_program(arguments);
  CAPTURE(arguments);
  CHECK(ran.code == 2);
  CHECK(ran.out.empty());
  CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
  return ran.err;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

constexpr const char* scenario = "configs/scenarios/gpt3_175b_selene.json";
constexpr const char* jobs = "examples/recipes/schedule/heterogeneous.json";

}  // namespace

TEST_CASE("refused: outputs that are files which the inputs name") {
  const std::string cluster = copy_of("configs/clusters/selene.json", "cl.json");
  const std::string own =
      copy_of(scenario, "own.json", "\"cluster\": \"selene\"", "\"cluster\": \"" + cluster + "\"");
  REQUIRE(run_program("simulate -q " + own).code == 0);
  const std::string before = text_of(cluster);
  CHECK(holds(refusal_of("simulate -q " + own + " --timeline " + cluster), "it is an input, too"));
  CHECK(text_of(cluster) == before);

  const std::string rates = copy_of("examples/recipes/schedule/rates.csv", "rates.csv");
  const std::string run = copy_of(jobs, "run.json");
  REQUIRE(run_program("schedule -q --policy fifo " + run).code == 0);
  const std::string old_rates = text_of(rates);
  for (const char* const option : {"--jobs ", "--events ", "--svg ", "--timeline "}) {
    CHECK(holds(refusal_of("schedule -q --policy fifo " + run + " " + option + rates),
                "it is an input, too"));
  }
  CHECK(text_of(rates) == old_rates);

  const std::string device = copy_of("configs/accelerators/h100_sxm.json", "device.json");
  REQUIRE(run_program("whatif -q " + demo + " --accelerator " + device).code == 0);
  CHECK(holds(refusal_of("whatif -q " + demo + " --accelerator " + device + " --svg " + device),
              "it is an input, too"));
  CHECK(holds(refusal_of("whatif -q " + demo + " --apply accelerator_swap:to=" + device +
                         " --svg " + device),
              "it is an input, too"));
}

TEST_CASE("refused: outputs over a file that the cluster imports") {
  const std::string network = copy_of("examples/recipes/imports/network.yml", "network.yml");
  const std::string system = copy_of("examples/recipes/imports/system.json", "system.json");
  const std::string cluster = copy_of("examples/recipes/imports/pairs.json", "pairs.json");
  const std::string plan = "plan gpt2_small --gpus 4 --batch 8 -q --cluster " + cluster + " -o ";
  const std::string before = text_of(network);
  for (const std::string& file : {network, system, cluster}) {
    CHECK(holds(refusal_of(plan + file), "it is an input, too"));
  }
  CHECK(run_program(plan + scratch_file("best.json")).code == 0);
  // By way of a scenario, and of a sweep over it.
  const std::string layers = copy_of("examples/recipes/imports/two_layers.txt", "two_layers.txt");
  const std::string job = copy_of("examples/recipes/imports/recorded_layers.json", "layers.json");
  REQUIRE(run_program("simulate -q " + job).code == 0);
  for (const std::string& file : {network, system, cluster, layers}) {
    CHECK(holds(refusal_of("simulate -q " + job + " --timeline " + file), "it is an input, too"));
  }
  CHECK(holds(refusal_of("whatif -q " + demo + " --parallel data=4 --cluster " + cluster +
                         " --timeline " + network),
              "it is an input, too"));
  const std::string sweep = scratch_file("sweep.json");
  std::ofstream(sweep) << R"({"schema": "foretrace.sweep/1", "scenario": ")" << job << R"("})";
  CHECK(holds(refusal_of("sweep " + sweep + " -o " + scratch_file("store") + " --svg " + network),
              "it is an input, too"));
  CHECK(text_of(network) == before);
}

TEST_CASE("refused: a file of another kind is named, and where it goes") {
  struct Wrong {
    const char* file;
    const char* words;
  };
  const std::string to = scratch_file("wrong.html");
  for (const auto& [file, words] :
       {Wrong{"configs/clusters/dgx_a100.json", "plan MODEL --cluster "},
        Wrong{"configs/accelerators/h100_sxm.json", "whatif TRACE --accelerator "},
        Wrong{"configs/models/gpt3_175b.json", "plan "},
        Wrong{"examples/recipes/fleets/storage.json", ": foretrace simulate "},
        Wrong{jobs, ": foretrace schedule "}}) {
    const std::string path = FORETRACE_SOURCE_DIR "/" + std::string(file);
    for (const std::string& command : {"whatif " + path + " --apply mixed_precision",
                                       "report " + path + " -o " + to, "explain " + path}) {
      const std::string told = refusal_of(command);
      CHECK(holds(told, "contains foretrace."));
      CHECK(holds(told, words));
      CHECK(holds(told, ": foretrace "));
    }
  }
}

TEST_CASE("refused: two outputs of one name, and names that are empty") {
  const std::string one = scratch_file("one.x");
  CHECK(holds(refusal_of("simulate " + demo + " --timeline " + one + " --svg " + one),
              "another output has the same name"));
  CHECK(holds(refusal_of("simulate " + demo + " --svg ''"), "--svg: got nothing"));
  CHECK(holds(refusal_of("simulate " + demo + " --memory-budget ''"), "got nothing"));
  CHECK(run_program("simulate -q " + demo + " --timeline /dev/null --svg /dev/null").code == 0);
}

TEST_CASE("refused: outputs that would be left out without a word") {
  const std::string memory = "examples/traces/demo_generated_cnn_memory.json.gz ";
  const std::string path = scratch_file("left_out");
  for (const char* const option : {" --svg ", " --memory-svg "}) {
    CHECK(holds(refusal_of("simulate " + memory + "--memory-budget 8GiB" + option + path),
                "draw a run without a memory budget"));
    CHECK(holds(
        refusal_of("whatif " + memory + "-a mixed_precision --memory-budget 8GiB" + option + path),
        "draw a run without a memory budget"));
  }
  const std::string check = "whatif " + demo + " -a mixed_precision --check " + demo;
  for (const char* const option : {" --svg ", " --memory-svg ", " --timeline "}) {
    CHECK(holds(refusal_of(check + option + path), "draw the prediction without it"));
  }
  CHECK(holds(refusal_of(check + " --memory-budget 8GiB"), "expected one of --check and"));
  CHECK(run_program(check + " -q").code == 0);
}

TEST_CASE("an export is there as a whole or not at all") {
  const std::string scenario_file = "configs/scenarios/llama3_70b_prefill.json";
  const std::string folder = scratch_file("export_cut");
  const std::string words = "export " + scenario_file + " --chakra '" + folder + "'";
  // files larger than a limit: writing ends in the middle
  const auto run_limited = [&] { return run_program(words, "A=b && ulimit -f 1 && trap '' XFSZ"); };
  CHECK(run_limited().code == 2);
  CHECK_FALSE(std::filesystem::exists(folder));
  // one that others write to keeps what is theirs
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/notes.txt") << "theirs";
  CHECK(run_limited().code == 2);
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 1);
  CHECK(run_program(words).code == 0);
  CHECK(holds(refusal_of(words), "contains an export already"));
  std::filesystem::remove(folder + "/comm_group.json");  // as after a kill
  CHECK(holds(refusal_of(words), "contains an interrupted export"));
}

TEST_CASE("refused: options of recordings for a scenario, which has none") {
  for (const char* const option :
       {"--strict", "--step 5", "--engine event", "--memory-budget '1 GiB'", "--svg x.svg",
        "--without-one-off", "--compute-rate '1 TFLOP/s'"}) {
    CHECK(holds(refusal_of(std::string("simulate ") + scenario + " " + option),
                "applies to a recording; a scenario has none"));
  }
}

TEST_CASE("refused: a what-if twice for the same tasks, not for others") {
  for (const char* const twice : {" -a mixed_precision -a mixed_precision:dtype=fp16",
                                  " -a data_loader_workers:workers=4"
                                  " -a data_loader_workers:workers=8"}) {
    CHECK(holds(refusal_of("whatif " + demo + twice), "given twice for the same tasks"));
  }
  CHECK(run_program("whatif -q " + demo + " -a \"scale:select='phase=forward',factor=0.5\"" +
                    " -a \"scale:select='phase=backward',factor=0.5\"")
            .code == 0);
}

TEST_CASE("refused: two what-ifs that change the same in another way, in either order") {
  CHECK(holds(refusal_of("whatif " + demo + " -a mig_slice:compute=0.5 -a power_cap:clock=0.8"),
              "mig_slice and power_cap: both change the same"));
  CHECK(holds(refusal_of("whatif " + demo + " -a mixed_precision -a int8_matmul"),
              "mixed_precision and int8_matmul: both change the same"));
}

TEST_CASE("refused: shards over more ranks than hold the layers, kinds that are not listed") {
  const std::string sharded =
      copy_of(scenario, "sharded.json", "\"tensor\": 8",
              "\"tensor\": 8, \"sharding\": \"parameters\", \"shard_size\": 16");
  CHECK(holds(refusal_of("simulate " + sharded), "/parallelism/shard_size: got 16"));
  copy_of("examples/recipes/schedule/rates.csv", "rates.csv");
  const std::string misspelt = copy_of(jobs, "kinds.json", "\"count\": 4, \"kind\": \"new\"",
                                       "\"count\": 4, \"kind\": \"nww\"");
  CHECK(holds(refusal_of("schedule " + misspelt), "/cluster/nodes/0/kind: got 'nww'"));
  CHECK(holds(refusal_of("schedule " + misspelt), "did you mean 'new'?"));
}

TEST_CASE("refused: what is about recordings or jobs, of a file that holds neither") {
  const std::string caches = "examples/recipes/fleets/storage.json";
  const std::string holds_input =
      caches + " contains input that a training job reads through a cache";
  for (const char* const option :
       {"--strict", "--no-recorded-latency", "--without-one-off", "--unprofiled-step 5ms",
        "--step 2", "--engine event", "--compute-rate 1TFLOP/s", "--memory-budget 1GiB",
        "--svg p.svg", "--memory-svg p.svg"}) {
    const std::string name = std::string(option).substr(0, std::string(option).find(' '));
    CHECK(holds(refusal_of("simulate " + caches + " " + option),
                "simulate: " + name + " applies to a recording; " + holds_input));
  }
  CHECK(holds(refusal_of("simulate " + caches + " --timeline t.json"),
              "simulate: --timeline shows a step; " + holds_input));
  CHECK(holds(refusal_of("simulate " + caches + " " + demo), holds_input + ", expected it alone"));
  CHECK(holds(refusal_of("schedule " + caches + " --policy fifo"), caches + " contains no jobs"));
}

TEST_CASE("refused: two formats of output, of which one would be left out") {
  const std::vector<std::string> pairs[] = {{"--json", "--csv"}, {"--json", "--table breakdown"}};
  for (const std::string& command : {std::string("inspect "), std::string("simulate "),
                                     std::string("whatif "), std::string("critical-path ")}) {
    for (const auto& pair : pairs) {
      CHECK(holds(refusal_of(command + demo + " " + pair[0] + " " + pair[1]),
                  "got --json and " + pair[1].substr(0, pair[1].find(' ')) +
                      ", expected one format of output"));
    }
  }
  CHECK(holds(refusal_of("list --json --csv"), "list: got --json and --csv"));
  const std::string two = "compare " + demo + " " + demo;
  CHECK(holds(refusal_of(two + " --markdown --csv"), "got --markdown and --csv, expected one"));
  CHECK(holds(refusal_of(two + " --json --markdown"), "got --json and --markdown, expected one"));
  CHECK(run_program("simulate " + demo + " --csv --table breakdown").code == 0);
}

TEST_CASE("schedule: what has gone to simulate has the same answer, and one line says where") {
  for (const char* const file :
       {"recipes/served_models/llama3_8b", "recipes/served_models/xrbench", "recipes/mapping/heft",
        "recipes/mapping/tables", "recipes/fleets/storage", "recipes/fleets/phones"}) {
    const std::string path = "examples/" + std::string(file) + ".json";
    for (const char* const form : {"", " --json", " --csv", " --details"}) {
      const Ran now = run_program("simulate " + path + form);
      const Ran before = run_program("schedule " + path + form);
      CHECK(now.code == 0);
      CHECK(now.err.empty());
      CHECK(before.code == 0);
      CHECK(before.out == now.out);
      CHECK(holds(before.err, "run it with `simulate " + path + "`"));
      CHECK(std::count(before.err.begin(), before.err.end(), '\n') == 1);
    }
  }
  CHECK(run_program("schedule -q examples/recipes/mapping/heft.json").err.empty());
  CHECK(run_program(std::string("schedule -q ") + jobs).err.empty());
}

TEST_CASE("refused: scenarios and schedules where a trace belongs, by name") {
  // One alone is a run that was modelled, but nothing was recorded that could be inspected.
  for (const std::string& command : {std::string("inspect "), "whatif --rank-all " + demo + " ",
                                     "critical-path " + demo + " "}) {
    CHECK(holds(
        refusal_of(command + scenario),
        "contains foretrace.scenario/1, expected a trace (it is a scenario: foretrace simulate "));
  }
  CHECK(holds(refusal_of(std::string("simulate ") + jobs), ": foretrace schedule "));
  CHECK(holds(refusal_of(std::string("simulate - < ") + scenario),
              "(it is a scenario, which is read from a file alone: foretrace simulate FILE)"));
  CHECK(holds(refusal_of(std::string("simulate ") + scenario + " " + demo), "expected it alone"));
  CHECK(holds(refusal_of("simulate " + copy_of(scenario, "typo.json", ".scenario/", ".scenaro/")),
              "expected a trace (did you mean 'foretrace.scenario'?)"));
  // A sweep holds a scenario and is none.
  CHECK(holds(refusal_of("simulate examples/recipes/sweeps/gpt3_512.json"),
              "contains foretrace.sweep/1, expected a trace (it is a sweep: foretrace sweep "));
  for (const std::string& runs : {demo + " " + scenario, std::string(scenario) + " " + demo}) {
    CHECK(holds(refusal_of("corun " + runs), std::string(scenario) + ": contains a scenario"));
  }
  CHECK(holds(refusal_of("corun --step all " + demo + " " + demo),
              "--step: got 'all', expected median or a step number"));
}

TEST_CASE("refused: a budget that the driver alone takes, in its own figures") {
  const Ran ran = run_program(
      "simulate -q examples/traces/demo_generated_cnn_memory.json.gz"
      " --memory-budget '100 MiB'");
  CHECK(ran.code == 1);
  CHECK(ran.out.empty());
  CHECK(holds(ran.err, "--memory-budget: 100.0 MiB do not fit: "));
}

TEST_CASE("a scenario that does not fit says so first") {
  const std::string large = copy_of(scenario, "large.json", "\"micro\": 1", "\"micro\": 8");
  const Ran ran = run_program("simulate -q " + large);
  CHECK(ran.code == 1);
  CHECK(ran.out.starts_with("does not fit: stage 0 needs "));
}

TEST_CASE("refused: files of configs that are broken, or not there, by what names them") {
  const std::string t4 = copy_of("configs/accelerators/t4.json", "my_t4.json");
  CHECK(run_program("whatif " + demo + " -q --accelerator " + t4).code == 0);
  const std::string broken =
      copy_of("configs/accelerators/t4.json", "bad_t4.json", "\"product\"", "\"prodct\"");
  CHECK(holds(refusal_of("whatif " + demo + " --accelerator " + broken),
              "bad_t4.json: '/prodct': unknown key (did you mean 'product'?)"));
  CHECK(holds(refusal_of("whatif " + demo + " --apply kernel_table:table=exampel"),
              "did you mean 'example'?"));
}

TEST_CASE("refused: an error stands alone, without the warnings of the trace it is about") {
  const std::string nodes = "tests/fixtures/chakra_et/two_streams.et";
  CHECK(holds(run_program("simulate " + nodes).err, "foretrace: warning: "));
  CHECK(holds(refusal_of("whatif " + nodes + " --apply mixed_precision"),
              "unknown GPU (device name "));
}

TEST_CASE("refused: a run with times beside tensors without") {
  const std::string tensors = "tests/fixtures/memory_timeline/coalesced.json";
  const Ran ran = run_program("compare " + demo + " " + tensors);
  CHECK(ran.code == 2);
  CHECK(holds(ran.err, "tensors without times"));
}

TEST_CASE("refused: standard output as the name of a file, and examples without a ranking") {
  for (const std::string& command :
       {"report " + demo + " -o -", "simulate " + demo + " --timeline -"}) {
    CHECK(holds(refusal_of(command), "cannot write '-': expected the name of a file"));
  }
  CHECK(holds(refusal_of("whatif " + demo + " --pairs --examples"), "--rank-all"));
}

TEST_CASE("a folder of configs that is none stops what reads configs, and nothing else") {
  const auto with = [](const std::string& arguments) {
    return run_program(
        "--version >/dev/null && FORETRACE_CONFIGS=/nowhere '" FORETRACE_PROGRAM "' " + arguments);
  };
  CHECK(with("--version").code == 0);
  CHECK(with("list readers").code == 2);
  const Ran asked = with("whatif " + demo + " --apply mixed_precision");
  CHECK(asked.code == 2);
  CHECK(asked.err ==
        "foretrace: FORETRACE_CONFIGS: /nowhere is no folder, expected that of the "
        "configs\n");
  const Ran recorded = with("collect -o " + scratch_file("none.ftr") + " -- true");
  CHECK(recorded.err.find("FORETRACE_CONFIGS") == std::string::npos);
}

TEST_CASE("a folder called as a model hides it only where a path is given") {
  const std::string folder = scratch_file("work");
  std::filesystem::create_directories(folder + "/gpt2");
  const auto plan = [&folder](const std::string& model) {
    return run_program(
        "--version && P=$(realpath '" FORETRACE_PROGRAM
        "') && export FORETRACE_CONFIGS=$(realpath '" FORETRACE_SOURCE_DIR "/configs') && cd '" +
        folder + "' && \"$P\" plan -q " + model + " --cluster dgx_h100 --gpus 8 --batch 64");
  };
  CHECK(plan("gpt2").code == 0);
  for (const char* const path : {"./gpt2", "gpt2/", "./gpt2_medium", "./nowhere/gpt2_medium"}) {
    CAPTURE(path);
    CHECK(plan(path).code == 2);
  }
}

TEST_CASE("explain knows models by the names that plan takes") {
  CHECK(run_program("explain meta-llama/Llama-3.1-8B").out == run_program("explain llama3_8b").out);
  CHECK(run_program("explain ./llama3_8b").code == 2);
}

}  // namespace foretrace::test
