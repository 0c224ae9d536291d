// The program as a user meets it: exit codes, one-line errors, pages that fit, files that are
// whole.
#include "tests/apps/support/program.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "apps/report/sections/breakdown_parts.h"
#include "sim/graph/task.h"
#include "trace/annotate/flags.h"

namespace foretrace::test {
namespace {

const std::string demo = demo_trace;

/// Runs and checks that the answer is an error: nothing on stdout, one line on stderr.
std::string error_of(const std::string& arguments, int code = 2) {
  const Ran ran = run_program(arguments);
  CAPTURE(arguments);
  CHECK(ran.code == code);
  CHECK(ran.out.empty());
  CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
  return ran.err;
}

TEST_CASE("a wrong name is answered with the nearest right one") {
  CHECK(error_of("simulte x") ==
        "foretrace: unknown command 'simulte' (did you mean 'simulate'?); see foretrace --help\n");
  CHECK(error_of("simulate --strct " + demo) ==
        "foretrace: simulate: unknown option '--strct' (did you mean '--strict'?)\n");
  CHECK(
      error_of("simulate --engine evnt " + demo) ==
      "foretrace: simulate: --engine: got 'evnt', expected pull or event (did you mean 'event'?); "
      "see foretrace simulate --help\n");
  CHECK(error_of("whatif --apply mixed_precison " + demo) ==
        "foretrace: unknown what-if 'mixed_precison' (did you mean 'mixed_precision'?); "
        "foretrace list optimizations names all\n");
  CHECK(
      error_of("whatif --apply mixed_precision:dtyp=fp16 " + demo).find("did you mean 'dtype'?") !=
      std::string::npos);
  CHECK(error_of("whatif --accelerator h100_sx " + demo).find("did you mean 'h100_sxm'?") !=
        std::string::npos);
  CHECK(error_of("list optimisations").find("did you mean 'optimizations'?") != std::string::npos);
  CHECK(run_program("list -q what-ifs").out == run_program("list -q optimizations").out);
  CHECK(error_of("explain --zero-loss") == "foretrace: explain: unknown option '--zero-loss'\n");
  CHECK(error_of("explain --parallel") ==
        "foretrace: explain: got '--parallel', expected it without its dashes: foretrace explain "
        "parallel\n");
  CHECK(error_of("explain mixed_precison").find("did you mean 'mixed_precision'?") !=
        std::string::npos);
}

TEST_CASE("bad usage is said in one line") {
  CHECK(error_of("simulate") ==
        "foretrace: simulate: TRACE is required; see foretrace simulate --help\n");
  CHECK(error_of("list optimizations b c") == "foretrace: list: unexpected argument 'c'\n");
  CHECK(error_of("list accelerators " + demo) ==
        "foretrace: list: got 'accelerators' with a trace, expected optimizations: the what-ifs "
        "that apply to it\n");
  CHECK(error_of("simulate a --step") ==
        "foretrace: simulate: --step: a value is missing; see foretrace simulate --help\n");
  CHECK(error_of("simulate a --step 3 --step 4") ==
        "foretrace: simulate: --step: given twice, expected once; see foretrace simulate --help\n");
  CHECK(error_of("whatif a --apply @") ==
        "foretrace: what-if: got '@' without a file, expected @FILE.json\n");
  CHECK(error_of("plan gpt2_xl --cluster dgx_h100 --batch 0").find("1 to 1000000000") !=
        std::string::npos);
  CHECK(error_of("plan gpt2_xl --cluster dgx_h100 --sequence 0").find("1 to 1000000000") !=
        std::string::npos);
  CHECK(error_of("collective x --cluster dgx_h100").find("expected one of all, all_reduce") !=
        std::string::npos);
  CHECK(error_of("simulate " + demo + " --step soon") ==
        "foretrace: --step: got 'soon', expected median, all or a step number\n");
  CHECK(error_of("whatif " + demo + " --narrower") ==
        "foretrace: whatif: --narrower is about one prediction; add --apply\n");
  CHECK(error_of("whatif " + demo + " --rank-all --apply mixed_precision") ==
        "foretrace: whatif: --rank-all tries each what-if alone; leave out --apply and "
        "--accelerator\n");
}

TEST_CASE("files that cannot be read or written are named with the reason") {
  CHECK(error_of("simulate no_such_file").find("no_such_file") != std::string::npos);
  CHECK(error_of("simulate tests").find("contains no profiler trace") != std::string::npos);
  CHECK(error_of("simulate CMakeLists.txt").find("CMakeLists.txt") != std::string::npos);
  CHECK(error_of("simulate " + demo + " --timeline /no/such/folder/x.json") ==
        "foretrace: cannot write '/no/such/folder/x.json': No such file or directory\n");
  CHECK(error_of("whatif " + demo + " --apply @no_such.json") ==
        "foretrace: cannot read 'no_such.json': No such file or directory\n");
  if (std::filesystem::exists("/dev/full")) {
    CHECK(error_of("simulate " + demo + " --timeline /dev/full") ==
          "foretrace: cannot write '/dev/full': No space left on device\n");
  }
}

TEST_CASE("an answer that cannot be delivered is no success") {
  if (std::filesystem::exists("/dev/full")) {
    const Ran full = run_program("list > /dev/full");
    CHECK(full.code == 2);
    CHECK(full.err == "foretrace: standard output: No space left on device\n");
  }
  const Ran closed = run_program("list >&-");
  CHECK(closed.code == 2);
  CHECK(closed.err == "foretrace: standard output: Bad file descriptor\n");
}

TEST_CASE(
    "a reader that has seen enough ends the program without a word, as it ends every filter") {
  // The reader is gone before the program starts.
  const Ran pipe = run_program("list > /dev/null; { sleep 0.3; '" FORETRACE_PROGRAM
                               "' list; echo $? 1>&2; } | true");
  CHECK(pipe.err == "141\n");  // 128 and SIGPIPE
}

TEST_CASE("no command, --help and help print the same page") {
  const std::string page = run_program("--help").out;
  CHECK(page.rfind("usage: foretrace <command>", 0) == 0);
  CHECK(run_program("").out == page);
  CHECK(run_program("").code == 0);
  CHECK(run_program("help").out == page);
  CHECK(run_program("help simulate").out == run_program("simulate --help").out);
  CHECK(error_of("help simulte") ==
        "foretrace: help: unknown command 'simulte' (did you mean 'simulate'?); see foretrace "
        "--help\n");
}

TEST_CASE("the manual page names every command and every option") {
  const std::string page = run_program("help --man").out;
  CHECK(page.rfind(".TH FORETRACE 1", 0) == 0);
  std::istringstream lines(run_program("help").out);
  bool in_commands = false;
  std::size_t commands = 0;
  for (std::string line; std::getline(lines, line);) {
    const bool ends = !line.empty() && line.back() == ':';
    if (ends) in_commands = line != "options:" && line != "examples:";
    if (!in_commands || line.rfind("  ", 0) != 0 || line[2] == ' ') continue;
    const std::string name = line.substr(2, line.find(' ', 2) - 2);
    CAPTURE(name);
    ++commands;
    std::string shown;
    for (const char c : name) shown += c == '-' ? std::string("\\-") : std::string(1, c);
    CHECK(page.find(".SS foretrace " + shown + " ") != std::string::npos);
  }
  CHECK(commands > 8);
  CHECK(page.find(".B \\-\\-rank\\-all\n") != std::string::npos);
  // groff complains of what it does not understand.
  const Ran formatted = run_program(
      "help --man | { command -v groff >/dev/null || { cat >/dev/null; "
      "exit 0; }; groff -man -Tutf8 -ww -z; }");
  CHECK(formatted.err.empty());
}

TEST_CASE("details, tables and documents are forms of one answer") {
  const std::string command = "whatif " + demo + " --apply kernel_fusion";
  const std::string page = run_program(command).out;
  CHECK(std::count(page.begin(), page.end(), '\n') <= 24);
  CHECK(page.find("\nassumes\n") == std::string::npos);
  const std::string details = run_program(command + " --details").out;
  CHECK(details.find("\nassumes\n") != std::string::npos);
  CHECK(details.substr(0, details.find('\n')) == page.substr(0, page.find('\n')));
  const std::string table = run_program(command + " --csv").out;
  CHECK(table.rfind("level,part,now_ns,predicted_ns,change\n0,step,", 0) == 0);
  CHECK(run_program(command + " --table memory").out.rfind("level,part,now_bytes,", 0) == 0);
  CHECK(error_of(command + " --table memry").find("(did you mean 'memory'?)") != std::string::npos);
}

TEST_CASE("the short pages of a generated trace fit a screen") {
  for (const std::string& arguments :
       {"inspect " + demo, "simulate " + demo, "critical-path " + demo,
        "whatif " + demo + " --rank-all", std::string("inspect tests/fixtures/job")}) {
    CAPTURE(arguments);
    const std::string page = run_program(arguments).out;
    CHECK(std::count(page.begin(), page.end(), '\n') <= 26);
  }
}

TEST_CASE("a dash is standard input") {
  const std::string page = run_program("simulate " + demo).out;
  const Ran from_file = run_program("simulate - < " + demo);
  CHECK(from_file.code == 0);
  CHECK(from_file.out.substr(0, from_file.out.find('\n')) == page.substr(0, page.find('\n')));
  CHECK(from_file.out.find("  trace       standard input, ") != std::string::npos);
  const Ran from_pipe = run_program("--version >/dev/null; gzip -dc " + demo +
                                    " | '" FORETRACE_PROGRAM "' inspect - --quiet");
  CHECK(from_pipe.out.rfind("standard input: step 50.93 ms", 0) == 0);
}

TEST_CASE("words that people use lead to our names") {
  const std::string start = "whatif " + demo + " --quiet --apply ";
  const std::string ours = run_program(start + "mixed_precision").out;
  CHECK(run_program(start + "amp").out == ours);
  CHECK(run_program(start + "Mixed-Precision").out == ours);
  CHECK(run_program(start + "torch.compile").out ==
        run_program(start + "whole_program_fusion").out);
  CHECK(error_of(start + "fsdp").find("the nearest is replicate: ") != std::string::npos);
  CHECK(error_of(start + "torch.compil")
            .find("did you mean 'torch.compile', our "
                  "whole_program_fusion?") != std::string::npos);
  const std::string to = "whatif " + demo + " --quiet --accelerator ";
  CHECK(run_program(to + "'NVIDIA H100 80GB HBM3'").out == run_program(to + "h100_sxm").out);
  CHECK(run_program(to + "T4").out == run_program(to + "t4").out);
  CHECK(error_of(to + "v100")
            .find("accelerator 'v100' may be any of v100_pcie_32gb, v100_sxm2_16gb") !=
        std::string::npos);
  CHECK(run_program("explain autocast").out == run_program("explain mixed_precision").out);
}

TEST_CASE("what a user has settled holds where the command line says nothing") {
  const std::string folder = scratch_file("config") + "/foretrace";
  std::filesystem::create_directories(folder);
  const auto settle = [&](const std::string& text) {
    std::ofstream(folder + "/config.json") << text;
  };
  const std::string command = "simulate " + demo;
  const std::string page = run_program(command).out;
  const std::string all = run_program(command + " --step all").out;
  const std::string quiet = run_program(command + " --quiet").out;
  settle(R"({"defaults": {"quiet": true}})");
  CHECK(run_program(command).out == quiet);
  CHECK(run_program(command + " --no-config").out == page);
  CHECK(run_program("--no-config " + command).out == page);
  settle(R"({"schema": "foretrace.config/1", "defaults": {"details": false},
             "commands": {"simulate": {"step": "all"}, "list": {"quiet": true}}})");
  CHECK(run_program(command).out == all);
  CHECK(run_program(command + " --step median").out == page);
  settle(R"({"commands": {"simulate": {"json": true}}})");
  CHECK(run_program(command).out.starts_with('{'));
  CHECK(run_program(command + " --csv").out == run_program(command + " --csv --no-config").out);
  settle(R"({"defaults": {"json": true, "csv": true}})");
  CHECK(error_of(command).find("expected one format of output") != std::string::npos);
  settle(R"({"commands": {"simulate": {"stp": 7}}})");
  CHECK(error_of("list").find("/commands/simulate/stp: unknown option (did you mean 'step'?)") !=
        std::string::npos);
  settle(R"({"commands": {"simulat": {}}})");
  CHECK(error_of("list").find("did you mean 'simulate'?") != std::string::npos);
  settle(R"({"default": {}})");
  CHECK(error_of("list").find("expected schema, defaults or commands") != std::string::npos);
  settle(R"({"defaults": {"log-level": "loud"}})");
  CHECK(error_of("list").find("/defaults/log-level: ") != std::string::npos);
  settle("{");
  CHECK(error_of("list").find("not JSON") != std::string::npos);
  std::filesystem::remove_all(folder);
  CHECK(run_program(command).out == page);
}

TEST_CASE(
    "the timeline of a job has no lanes of ours, and what joins ranks is drawn between them") {
  const std::string file = scratch_file("job.json");
  REQUIRE(run_program("simulate tests/fixtures/job --quiet --timeline '" + file + "'").code == 0);
  std::ifstream stream(file);
  const nlohmann::json trace = nlohmann::json::parse(stream);
  std::size_t between_ranks = 0;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == "M" && event["name"] == "process_name") {
      CHECK(event["args"]["name"].get<std::string>().find("rank -1") == std::string::npos);
    }
    between_ranks += event["ph"] == "s" && event["name"] == "rendezvous" ? 1 : 0;
  }
  CHECK(between_ranks > 0);
}

TEST_CASE("a what-if that finds nothing answers no") {
  const std::string message =
      error_of("whatif " + demo + " --apply \"scale:select='name=nothing',factor=2\"", 1);
  CHECK(message.rfind("foretrace: scale: ", 0) == 0);
}

TEST_CASE("every page fits 100 columns and starts with the answer") {
  const std::vector<std::string> pages = {
      "--help",
      "simulate --help",
      "whatif --help",
      "inspect --help",
      "critical-path --help",
      "convert --help",
      "collect --help",
      "list",
      "inspect " + demo,
      "simulate " + demo + " --step all",
      "critical-path " + demo,
      "whatif " + demo + " --rank-all",
      "whatif " + demo + " --apply mixed_precision --apply data_loader_workers",
      "whatif " + demo + " --accelerator h100_sxm",
      "explain h100_sxm"};
  for (const std::string& arguments : pages) {
    const Ran ran = run_program(arguments);
    CAPTURE(arguments);
    CHECK(ran.code == 0);
    CHECK(ran.err.empty());
    CHECK(first_bad_line(ran.out) == "");
  }
  CHECK(run_program("simulate " + demo).out.rfind("step ", 0) == 0);
}

TEST_CASE("pages of 80 columns keep names and ranges whole") {
  const std::vector<std::string> pages = {"list",
                                          "explain h100_sxm",
                                          "inspect " + demo + " --details",
                                          "inspect " + demo + " --memory --modules",
                                          "simulate " + demo + " --step all --details",
                                          "simulate configs/scenarios/gpt3_175b_selene.json",
                                          "critical-path " + demo + " --details",
                                          "compare " + demo + " " + demo + " --details",
                                          "whatif " + demo + " --rank-all",
                                          "whatif " + demo + " --rank-all --by memory",
                                          "whatif " + demo + " --pairs",
                                          "whatif " + demo + " --max-batch",
                                          "whatif " + demo + " --apply cuda_graph --details",
                                          "schedule examples/recipes/schedule/heterogeneous.json"};
  for (const std::string& arguments : pages) {
    const Ran ran = run_program(arguments, "COLUMNS=80");
    CAPTURE(arguments);
    CHECK(ran.code == 0);
    CHECK(first_bad_line(ran.out, 80) == "");
  }
  // The names of what-ifs, of stages and of policies, and the ranges beside them.
  const std::string ranking = run_program("whatif " + demo + " --rank-all", "COLUMNS=80").out;
  CHECK(ranking.find("remove_synchronization") != std::string::npos);
  for (std::size_t at = ranking.find("..."); at != std::string::npos;
       at = ranking.find("...", at + 3)) {
    CHECK(ranking.substr(at, 4) == "... ");  // "... 6 more", not a name without its middle
  }
  CHECK(ranking.find(" .. ") != std::string::npos);
  const std::string jobs =
      run_program("schedule examples/recipes/schedule/heterogeneous.json", "COLUMNS=80").out;
  CHECK(jobs.find("max_sum_throughput [a]") != std::string::npos);
  CHECK(jobs.find(" hidden (") != std::string::npos);
}

TEST_CASE("whatif: a trace alone is asked what would help most") {
  CHECK(run_program("whatif " + demo).out == run_program("whatif " + demo + " --rank-all").out);
}

TEST_CASE("list: of a trace, only what changes something in it") {
  const std::string names = "\n" + run_program("list " + demo + " --quiet").out;
  CHECK(names.find("\nmixed_precision\n") != std::string::npos);
  // One rank without collectives, and no embedding.
  CHECK(names.find("\nremove_straggler\n") == std::string::npos);
  CHECK(names.find("\ntt_embedding\n") == std::string::npos);
  CHECK(run_program("list optimizations " + demo + " --quiet").out == names.substr(1));
}

TEST_CASE("every component can be explained on one page") {
  std::istringstream names(run_program("list --quiet").out);
  for (std::string name; std::getline(names, name);) {
    CAPTURE(name);
    const Ran ran = run_program("explain " + name);
    CHECK(ran.code == 0);
    CHECK(ran.out.rfind(name, 0) == 0);
    CHECK(first_bad_line(ran.out) == "");
  }
}

TEST_CASE("words of an answer are explained as they are printed") {
  for (std::size_t i = 0; i < provenance_count; ++i) {
    const std::string name(to_string(static_cast<Provenance>(i)));
    CAPTURE(name);
    CHECK(run_program("explain " + name).out.rfind(name + ": ", 0) == 0);
  }
  for (const report::BreakdownPart& part : report::breakdown_parts) {
    CAPTURE(part.title);
    CHECK(run_program("explain '" + std::string(part.title) + "'").code == 0);
  }
  for (const std::string_view flag :
       {trace::flags::first_use, trace::flags::missing_records, std::string_view("low-confidence"),
        std::string_view("live peak"), std::string_view("noise"), std::string_view("based on"),
        std::string_view("maximum saving"), std::string_view("samples/s"),
        std::string_view("first token"), std::string_view("MFU")}) {
    CAPTURE(flag);
    CHECK(run_program("explain '" + std::string(flag) + "'").code == 0);
  }
  CHECK(run_program("list words --quiet").out.find("\nunexplained\n") != std::string::npos);
}

TEST_CASE("the top help begins with what-ifs") {
  const std::string page = run_program("help").out;
  CHECK(page.find("ask what a change would do:\n  whatif ") < page.find("look at a run:\n"));
}

TEST_CASE("quiet prints the first line of the page") {
  for (const std::string& command :
       {"simulate " + demo, "critical-path " + demo, "whatif " + demo + " --rank-all",
        "whatif " + demo + " --apply data_loader_workers"}) {
    std::string sentence = run_program(command).out;
    sentence.resize(sentence.find("\n\n"));
    std::replace(sentence.begin(), sentence.end(), '\n', ' ');  // a page is as wide as a screen
    CHECK(run_program(command + " --quiet").out == sentence + "\n");
  }
}

TEST_CASE("both engines give the same answer") {
  const Ran pull = run_program("simulate " + demo + " --json");
  const Ran event = run_program("simulate " + demo + " --json --engine event");
  CHECK(pull.code == 0);
  CHECK(pull.out == event.out);
}

TEST_CASE("the same command prints the same bytes") {
  const std::string command = "whatif " + demo + " --rank-all --json";
  CHECK(run_program(command).out == run_program(command).out);
}

TEST_CASE("a timeline has a slice per operation, and every arrow both ends") {
  const std::string file = scratch_file("timeline.json");
  const Ran ran =
      run_program("whatif " + demo + " --apply data_loader_workers --timeline '" + file + "'");
  CHECK(ran.code == 0);
  CHECK(ran.out.find("timeline written to " + file) != std::string::npos);
  std::ifstream stream(file);
  const nlohmann::json trace = nlohmann::json::parse(stream);
  std::size_t slices = 0;
  std::int64_t arrows = 0;
  bool names_baseline = false;
  bool names_prediction = false;
  for (const auto& event : trace["traceEvents"]) {
    const std::string phase = event["ph"].get<std::string>();
    slices += phase == "X" ? 1 : 0;
    arrows += phase == "s" ? 1 : phase == "f" ? -1 : 0;
    if (phase == "M" && event["name"] == "process_name") {
      const std::string name = event["args"]["name"].get<std::string>();
      names_baseline = names_baseline || name.rfind("baseline: ", 0) == 0;
      names_prediction = names_prediction || name.rfind("predicted: ", 0) == 0;
    }
  }
  CHECK(slices > 2 * 1704);  // the demo runs 284 device operations in each of 6 steps
  CHECK(arrows == 0);
  CHECK(names_baseline);
  CHECK(names_prediction);
}

TEST_CASE("a timeline within a memory budget shows what the policy did, or is not written") {
  const std::string trace = "tests/golden/simulate_in_a_memory_budget/trace.json";
  const std::string file = scratch_file("budget.json");
  const Ran ran = run_program("whatif " + trace +
                              " --apply \"scale:select='kind=kernel',factor=0.5\" --memory-budget "
                              "87.5% --when-full dtr --timeline '" +
                              file + "'");
  CHECK(ran.code == 0);
  CHECK(ran.out.find("timeline written to " + file) != std::string::npos);
  std::ifstream stream(file);
  const nlohmann::json written = nlohmann::json::parse(stream);
  std::size_t repeated = 0;
  std::size_t evicted = 0;
  for (const auto& event : written["traceEvents"]) {
    const std::string name = event["name"].get<std::string>();
    repeated += name == "recompute: gemm_fw_0" ? 1 : 0;
    evicted += event["ph"] == "i" && name.rfind("evict", 0) == 0 ? 1 : 0;
  }
  CHECK(repeated == 4);  // of two steps, before and after
  CHECK(evicted == 4);

  const std::string none = scratch_file("none.json");
  const Ran refused =
      run_program("simulate " + trace + " --memory-budget 87.5% --timeline '" + none + "'");
  CHECK(refused.code == 1);
  CHECK(refused.err.find("--timeline: the run stops within the memory budget") !=
        std::string::npos);
  CHECK(refused.out.find("timeline written") == std::string::npos);
  CHECK_FALSE(std::filesystem::exists(none));
}

TEST_CASE("a timeline that cannot be finished leaves no file behind") {
  const std::string file = scratch_file("small.json");
  // One block of 512 bytes is all that this shell may write to a file.
  const Ran ran =
      run_program("list >/dev/null; ulimit -f 1; trap '' XFSZ; " FORETRACE_PROGRAM " simulate " +
                  demo + " --timeline '" + file + "' >/dev/null");
  CHECK(ran.code == 2);
  CHECK_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace foretrace::test
