// Files that the program writes: whole or not there, never one of its inputs, refused before the
// work where they cannot be written.
#include "apps/cli/output/outputs.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "tests/apps/support/program.h"
#include "tests/small_disk.h"

namespace foretrace::test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// A folder with a trace, other names for it, and files that lead to it.
struct Inputs {
  std::string folder;
  std::string trace;
  explicit Inputs(const std::string& name)
      : folder(scratch_file(name)), trace(folder + "/t.json.gz") {
    fs::create_directory(folder);
    fs::copy_file(FORETRACE_SOURCE_DIR "/" + std::string(demo_trace), trace);
    fs::create_symlink("t.json.gz", folder + "/soft.json");
    fs::create_hard_link(trace, folder + "/hard.json");
    std::ofstream(folder + "/list.json")
        << R"({"foretrace": "collect", "files": [{"path": "t.json.gz"}]})";
    std::ofstream(folder + "/apply.json")
        << R"({"optimization": "scale", "parameters": {"select": "kind=kernel", "factor": 0.5}})";
  }
  [[nodiscard]] std::string file(const std::string& name) const { return folder + "/" + name; }
};

TEST_CASE("outputs: one that is also read is refused, by whatever name, and stays as it is") {
  const Inputs in("also_read");
  const std::string before = text_of(in.trace);
  const auto refused = [&](const std::string& arguments) {
    const Ran ran = run_program(arguments);
    CAPTURE(arguments);
    CAPTURE(ran.err);
    CHECK(ran.code == 2);
    CHECK(ran.err.find("foretrace: cannot write '") == 0);
    CHECK(ran.err.find("it is an input, too") != std::string::npos);
    CHECK(text_of(in.trace) == before);
  };
  for (const char* const name : {"t.json.gz", "soft.json", "hard.json", "../also_read/t.json.gz"}) {
    refused("convert " + in.trace + " " + in.file(name) + " --to kineto_json");
    refused("convert " + in.file("soft.json") + " " + in.file(name) + " --to kineto_json");
    refused("simulate " + in.trace + " --timeline " + in.file(name));
    refused("whatif " + in.trace + " --apply mixed_precision --timeline " + in.file(name));
    refused("simulate " + in.folder + " --timeline " + in.file(name));
    refused("simulate " + in.file("list.json") + " --timeline " + in.file(name));
  }
  refused("simulate " + in.file("list.json") + " --timeline " + in.file("list.json"));
  refused("whatif " + in.trace + " --apply @" + in.file("apply.json") + " --timeline " +
          in.file("apply.json"));
  refused("calibrate " + in.file("apply.json") + " -o " + in.file("apply.json"));
  // The list of recordings that a wrong file would replace.
  CHECK(text_of(in.file("list.json")).find("\"files\"") != std::string::npos);
}

TEST_CASE("outputs: the file on standard input is an input too") {
  const Inputs in("on_stdin");
  const int before = ::dup(STDIN_FILENO);
  const int file = ::open(in.trace.c_str(), O_RDONLY);
  ::dup2(file, STDIN_FILENO);
  const std::vector<std::string> inputs = {"-"};
  const bool same = app::check_output(in.file("soft.json"), inputs).ok();
  const bool other = app::check_output(in.file("new.json"), inputs).ok();
  ::dup2(before, STDIN_FILENO);
  ::close(before);
  ::close(file);
  CHECK_FALSE(same);
  CHECK(other);
  CHECK(app::check_output("", inputs).ok());
  CHECK(app::check_output("/dev/null", std::vector<std::string>{"/dev/null"}).ok());
}

TEST_CASE("outputs: what cannot be written is refused before anything is read") {
  for (const std::string command : {"convert no_such_trace ", "simulate no_such_trace --timeline ",
                                    "whatif no_such_trace --apply mixed_precision --timeline ",
                                    "calibrate no_such_table -o "}) {
    CAPTURE(command);
    CHECK(run_program(command + "/no/such/folder/x.json").err ==
          "foretrace: cannot write '/no/such/folder/x.json': No such file or directory\n");
    CHECK(run_program(command + "/proc/x.json").err.find("cannot write '/proc/x.json'") !=
          std::string::npos);
    CHECK(run_program(command + "/etc/passwd/x.json").err ==
          "foretrace: cannot write '/etc/passwd/x.json': Not a directory\n");
  }
}

TEST_CASE("outputs: an error while a file is filled leaves the old one") {
  const std::string path = scratch_file("filled.txt");
  std::ofstream(path) << "old";
  const Status failed = app::write_file(path, [](const auto& sink) -> Status {
    CHECK(sink("half"));
    return Error{ErrorCode::unsupported, "no more"};
  });
  CHECK(failed.error().message == "no more");
  CHECK(text_of(path) == "old");
  CHECK_THROWS(static_cast<void>(app::write_file(path, [](const auto& sink) -> Status {
    CHECK(sink("half"));
    throw std::runtime_error("out of luck");
  })));
  CHECK(text_of(path) == "old");
}

TEST_CASE("outputs: a full disk leaves the old file, whole, and nothing beside it") {
  const std::string disk = scratch_file("disk");
  const SmallDisk small(disk, "256k");
  if (!small.is_there()) {
    MESSAGE("SKIPPED: no small disk can be mounted here (it needs root)");
    return;
  }
  const std::string demo = demo_trace;
  for (const std::string& command :
       {"convert " + demo + " " + disk + "/out.json",
        "simulate " + demo + " --timeline " + disk + "/out.json",
        "whatif " + demo + " --apply mixed_precision --timeline " + disk + "/out.json"}) {
    CAPTURE(command);
    std::ofstream(disk + "/out.json") << "old";
    const Ran ran = run_program(command);
    CHECK(ran.code == 2);
    CHECK(ran.err == "foretrace: cannot write '" + disk + "/out.json': No space left on device\n");
    CHECK(text_of(disk + "/out.json") == "old");
    CHECK(std::distance(fs::directory_iterator(disk), fs::directory_iterator()) == 1);
  }
}

TEST_CASE("outputs: a limit for the size of files is an error like a full disk") {
  const std::string out = scratch_file("limited.json");
  std::ofstream(out) << "old";
  const Ran ran = run_program("list >/dev/null; ulimit -f 64; '" FORETRACE_PROGRAM "' convert " +
                              std::string(demo_trace) + " '" + out + "'");
  CHECK(ran.code == 2);
  CHECK(ran.err == "foretrace: cannot write '" + out + "': File too large\n");
  CHECK(text_of(out) == "old");
}

TEST_CASE("outputs: of two programs that write one file at once, one wins") {
  const std::string out = scratch_file("contended.json");
  const std::string demo = demo_trace;
  const std::string program = "'" FORETRACE_PROGRAM "' ";
  REQUIRE(run_program("convert " + demo + " '" + out + "'").code == 0);
  const std::string converted = text_of(out);
  REQUIRE(run_program("simulate " + demo + " --timeline '" + out + "'").code == 0);
  const std::string simulated = text_of(out);
  for (int round = 0; round < 5; ++round) {
    const Ran ran =
        run_program("list >/dev/null; " + program + "convert " + demo + " '" + out + "' & " +
                    program + "simulate " + demo + " --timeline '" + out + "' & wait");
    CHECK(ran.err.empty());
    const std::string text = text_of(out);
    CHECK((text == converted || text == simulated));
  }
}

TEST_CASE("outputs: where no file can be without a name, the file has one until it is whole") {
  // Without /proc the name cannot be given later.
#ifdef __SANITIZE_ADDRESS__
  MESSAGE("SKIPPED: the address sanitizer needs /proc itself");
  return;
#endif
  const std::string folder = scratch_file("named");
  fs::create_directory(folder);
  const std::string demo =
      fs::absolute(FORETRACE_SOURCE_DIR "/" + std::string(demo_trace)).string();
  const Ran ran = run_program(
      "list >/dev/null; unshare -m sh -c \"umount -l /proc && '" FORETRACE_PROGRAM "' convert " +
      demo + " '" + folder + "/out.json'\"");
  if (ran.err.find("unshare") != std::string::npos || ran.err.find("umount") != std::string::npos) {
    MESSAGE("SKIPPED: /proc cannot be hidden here (it needs root)");
    return;
  }
  CHECK(ran.code == 0);
  const std::string usual = scratch_file("usual.json");
  REQUIRE(run_program("convert " + demo + " '" + usual + "'").code == 0);
  CHECK(text_of(folder + "/out.json") == text_of(usual));
  CHECK(std::distance(fs::directory_iterator(folder), fs::directory_iterator()) == 1);
}

}  // namespace
}  // namespace foretrace::test
