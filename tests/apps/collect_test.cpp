// foretrace collect around programs that know nothing of CUDA: it must not be noticed.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/apps/support/program.h"

namespace foretrace::test {
namespace {

/// Runs `collect` with a recording in the scratch folder.
Ran collect(const std::string& options, const std::string& command) {
  return run_program("collect -o '" + scratch_file("run.ftr") + "' " + options + " -- " + command);
}

TEST_CASE("collect keeps the program's output and exit code") {
  for (const int code : {0, 1, 3, 124, 126, 255}) {
    const Ran ran =
        collect("--quiet", "sh -c 'echo out; echo err >&2; exit " + std::to_string(code) + "'");
    CAPTURE(code);
    CHECK(ran.code == code);
    CHECK(ran.out == "out\n");
    CHECK(ran.err == "err\n");
  }
}

TEST_CASE(
    "collect passes the program its input and its arguments, also those that look like ours") {
  const Ran ran = collect("--quiet", "sh -c 'printf \"%s|\" \"$@\"; cat' name --json -o x -- y");
  CHECK(ran.out == "--json|-o|x|--|y|");
  CHECK(run_program("collect --quiet -- cat < CMakePresets.json").out.size() ==
        std::filesystem::file_size(FORETRACE_SOURCE_DIR "/CMakePresets.json"));
}

TEST_CASE("collect ends by the signal that ended the program, and passes signals on") {
  // A shell says 128 + n where a child was ended by signal n.
  CHECK(run_program("list >/dev/null; '" FORETRACE_PROGRAM
                    "' collect --quiet -- sh -c 'kill -TERM $$'; echo $? 1>&2")
            .err.find("143\n") != std::string::npos);
  CHECK(run_program("list >/dev/null; '" FORETRACE_PROGRAM
                    "' collect --quiet -- sh -c 'kill -KILL $$'; echo $? 1>&2")
            .err.find("137\n") != std::string::npos);
  const Ran passed = run_program(
      "list >/dev/null; '" FORETRACE_PROGRAM
      "' collect --quiet -- sh -c 'trap \"echo caught; exit 7\" TERM; i=0; while [ $i -lt 200 ]; "
      "do "
      "sleep 0.05; i=$((i+1)); done' & pid=$!; sleep 0.5; kill -TERM $pid; wait $pid; echo $?");
  CHECK(passed.out == "caught\n7\n");
  // A closed pipe ends the program as it does without us: SIGPIPE is not ignored in it.
  CHECK(run_program("collect --quiet -- sh -c 'yes; echo $? 1>&2' | head -n 1").out == "y\n");
}

TEST_CASE("collect says its own failures with 125") {
  const Ran missing = collect("", "/no/such/program");
  CHECK(missing.code == 125);
  CHECK(missing.err.find("foretrace: collect: cannot run '/no/such/program': No such file or "
                         "directory\n") != std::string::npos);
  const Ran folder = collect("", "/");
  CHECK(folder.code == 125);
  CHECK(folder.err.find("Permission denied") != std::string::npos);
  CHECK(run_program("collect").code == 125);
  CHECK(run_program("collect --stps 1 -- true").code == 125);
  const Ran steps = collect("--steps 5:2", "true");
  CHECK(steps.code == 125);
  CHECK(steps.err == "foretrace: collect: --steps: got '5:2', expected FIRST:LAST, as in 10:12\n");
  const Ran nowhere = run_program("collect -o /no/such/folder/x.ftr -- true");
  CHECK(nowhere.code == 125);
  CHECK(nowhere.err == "foretrace: collect: '/no/such/folder': no such folder to write to\n");
}

TEST_CASE("collect tells in one line that nothing was recorded") {
  const Ran ran = collect("", "true");
  CHECK(ran.code == 0);
  CHECK(ran.err.rfind("foretrace: collect: no ", 0) == 0);
  CHECK(ran.err.find('\n') == ran.err.size() - 1);
  CHECK_FALSE(std::filesystem::exists(scratch_file("run.ftr")));
}

TEST_CASE("collect gives each process a file, names a single one as asked, and lists them") {
  // A library that records nothing goes in; the programs write the files themselves.
  const std::string recording = scratch_file("several.ftr");
  const auto run = [&](const std::string& script) {
    return run_program("list >/dev/null; FORETRACE_COLLECTOR='" FORETRACE_EMPTY_COLLECTOR
                       "' '" FORETRACE_PROGRAM "' collect -o '" +
                       recording + "' --nvtx --memory --steps 3:4 -- sh -c '" + script + "'");
  };
  const std::string bytes = R"(printf "\\211FTR\\r\\n\\032\\nx" > $FORETRACE_COLLECT_FILE)";
  Ran ran = run(bytes +
                ".$$.ftr; echo $FORETRACE_COLLECT_STEPS $FORETRACE_COLLECT_MEMORY "
                "$FORETRACE_COLLECT_NVTX; echo ${CUDA_INJECTION64_PATH##*/} "
                "${NVTX_INJECTION64_PATH##*/}");
  CAPTURE(ran.err);
  CHECK(ran.code == 0);
  CHECK(ran.out == "3:4 1 1\nlibempty_collector.so libempty_collector.so\n");
  CHECK(std::filesystem::exists(recording));
  CHECK(ran.err.find("recorded 1 process in " + recording) != std::string::npos);

  ran = run(bytes + ".$$.ftr; " + bytes + ".77.ftr; exit 4");
  CHECK(ran.code == 4);
  std::ifstream stream(recording + ".json");
  const nlohmann::json manifest = nlohmann::json::parse(stream);
  CHECK(manifest["exit_code"] == 4);
  CHECK(manifest["signal"].is_null());
  REQUIRE(manifest["files"].size() == 2);
  CHECK_FALSE(manifest.contains("command"));
  for (const auto& file : manifest["files"]) {
    const std::string path = file["path"].get<std::string>();
    CHECK(path.rfind("several.", 0) == 0);
    CHECK(file["bytes"] == 9);
  }
}

TEST_CASE("collect keeps the exit code where stderr cannot be written") {
  for (const char* const where : {"2>&-", "2>/dev/full"}) {
    CAPTURE(where);
    CHECK(run_program("collect -o '" + scratch_file("run.ftr") + "' -- sh -c 'exit 7' " + where)
              .code == 7);
    CHECK(run_program("collect -o '" + scratch_file("run.ftr") + "' -- /no/such/program " + where)
              .code == 125);
  }
  // What was closed is closed in the program too.
  CHECK(run_program("collect -q -- sh -c 'echo x >&2 || exit 9' 2>&-").code == 9);
}

TEST_CASE("collect takes arguments that are not UTF-8, and keeps the exit code") {
  const std::string recording = scratch_file("latin1.ftr");
  const std::string script =
      R"(printf "\\211FTR\\r\\n\\032\\nx" > $FORETRACE_COLLECT_FILE.$$.ftr; exit 6)";
  const Ran ran = run_program("list >/dev/null; FORETRACE_COLLECTOR='" FORETRACE_EMPTY_COLLECTOR
                              "' '" FORETRACE_PROGRAM "' collect --with-command -o '" +
                              recording + "' -- sh -c '" + script + "' name \xE4\xFF");
  CHECK(ran.code == 6);
  std::ifstream stream(recording + ".json");
  const nlohmann::json manifest = nlohmann::json::parse(stream);
  CHECK(manifest["command"].size() == 5);
}

TEST_CASE("collect hears of its program's end where nobody waits for children") {
  CHECK(run_program("list >/dev/null; trap '' CHLD; '" FORETRACE_PROGRAM
                    "' collect -q -- sh -c 'exit 7'")
            .code == 7);
}

TEST_CASE("collect passes on what is sent to it, once each") {
  // A shell counts what reaches it.
  const std::string counts =
      "for s in INT QUIT ALRM XCPU HUP USR1 USR2; do trap \"echo $s\" $s; done; "
      "trap \"exit 5\" TERM; echo ready; while :; do sleep 0.05; done";
  const std::string out = scratch_file("signals");
  const Ran ran = run_program(
      "list >/dev/null; '" FORETRACE_PROGRAM "' collect -q -- bash -c '" + counts + "' >'" + out +
      "' & pid=$!; while ! grep -q ready '" + out +
      "'; do sleep 0.05; done; for s in INT QUIT ALRM XCPU HUP USR1 USR2 TERM; do kill -$s $pid; "
      "sleep 0.2; done; wait $pid; echo $?");
  CHECK(ran.out == "5\n");
  std::ifstream file(out);
  const std::string seen((std::istreambuf_iterator<char>(file)), {});
  // Bash ignores INT and QUIT where a shell has put it into the background: then nothing can count
  // them, and nothing ends of them.
  for (const char* const signal : {"ALRM", "XCPU", "HUP", "USR1", "USR2"}) {
    CAPTURE(signal);
    CHECK(seen.find(std::string(signal) + "\n") != std::string::npos);
    CHECK(seen.find(std::string(signal) + "\n") == seen.rfind(std::string(signal) + "\n"));
  }
}

/// What a terminal shows until a line says `until`, or for ten seconds.
std::string shown_until(int terminal, const std::string& until) {
  std::string text;
  std::string piece(4096, '\0');
  for (int i = 0; i < 200 && text.find(until) == std::string::npos; ++i) {
    pollfd ready{terminal, POLLIN, 0};
    if (::poll(&ready, 1, 50) == 1) {
      const ssize_t got = ::read(terminal, piece.data(), piece.size());
      text.append(piece, 0, got > 0 ? static_cast<std::size_t>(got) : 0);
    }
  }
  return text;
}

TEST_CASE("collect leaves keys to the terminal, and passes on the same signal if it is sent") {
  const std::string counts =
      "trap 'echo got INT' INT; trap 'exit 5' TERM; echo ready; while :; do sleep 0.05; done";
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  REQUIRE(child >= 0);
  if (child == 0) {
    ::execl(FORETRACE_PROGRAM, FORETRACE_PROGRAM, "collect", "-q", "-o",
            scratch_file("keys.ftr").c_str(), "--", "bash", "-c", counts.c_str(), nullptr);
    ::_exit(127);
  }
  CHECK(shown_until(terminal, "ready").find("ready") != std::string::npos);
  REQUIRE(::write(terminal, "\x03", 1) == 1);  // Ctrl-C goes to both
  std::string shown = shown_until(terminal, "got INT");
  ::usleep(300'000);
  ::kill(child, SIGINT);  // and this to collect alone
  shown += shown_until(terminal, "got INT");
  ::usleep(300'000);
  ::kill(child, SIGTERM);
  int status = 0;
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 5);
  shown += shown_until(terminal, "got INT\r\ngot INT\r\ngot INT");  // what is left
  std::size_t count = 0;
  for (std::size_t at = shown.find("got INT"); at != std::string::npos;
       at = shown.find("got INT", at + 1)) {
    ++count;
  }
  CHECK(count == 2);
  ::close(terminal);
}

TEST_CASE("collect replaces recordings only, and writes over no word of its command") {
  const std::string notes = scratch_file("notes.txt");
  std::ofstream(notes) << "mine";
  const auto refused = [](const std::string& out, const std::string& command) {
    const Ran ran = run_program("collect -o '" + out + "' -- " + command);
    CHECK(ran.code == 125);
    CHECK(ran.out.empty());
    return ran.err;
  };
  CHECK(refused(notes, "echo ran").find("is not a recording, so it is not replaced") !=
        std::string::npos);
  CHECK(refused(notes, "cat '" + notes + "'").find("it is an input, too") != std::string::npos);
  std::filesystem::create_symlink(notes, scratch_file("link.ftr"));
  CHECK(refused(scratch_file("link.ftr"), "cat '" + notes + "'").find("it is an input, too, as") !=
        std::string::npos);
  std::ofstream(scratch_file("kept.ftr.json")) << "{}";
  CHECK(refused(scratch_file("kept.ftr"), "echo ran").find("kept.ftr.json' exists and is not a") !=
        std::string::npos);
  CHECK(refused("/dev/null", "echo ran").find("is not a recording") != std::string::npos);
  CHECK(refused("/proc/run.ftr", "echo ran").find("cannot write") != std::string::npos);
  std::ifstream stream(notes);
  CHECK(std::string((std::istreambuf_iterator<char>(stream)), {}) == "mine");
}

}  // namespace
}  // namespace foretrace::test
