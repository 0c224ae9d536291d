// What travels through the environment, and which ranges stand for steps.
#include "trace/collect/settings.h"

#include <map>
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include "trace/collect/step_report.h"

namespace foretrace::trace::collector {
namespace {

Settings through_environment(const Settings& settings) {
  std::map<std::string, std::string> environment;
  for (const auto& [name, value] : variables_of(settings)) {
    environment[name] = value;
  }
  return settings_from([&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

TEST_CASE("collector: settings travel through the environment") {
  Settings given;
  given.file = "/a/run.1f2e";
  given.host = "node7";
  given.steps = StepRange{2, 5};
  given.memory = given.ranges = given.command = true;
  given.most_bytes = std::uint64_t{5} << 32U;
  given.stderr_file = "12:34";
  given.goes_first = "/other.so";
  const Settings all = through_environment(given);
  CHECK(all.file == given.file);
  CHECK(all.host == given.host);
  CHECK(all.command);
  CHECK(all.most_bytes == given.most_bytes);
  CHECK(all.stderr_file == given.stderr_file);
  CHECK(all.goes_first == given.goes_first);
  REQUIRE(all.steps.has_value());
  CHECK(all.steps->first == 2);
  CHECK(all.steps->last == 5);
  CHECK(all.memory);
  CHECK(all.ranges);
  const Settings none = settings_from([](const char*) -> const char* { return nullptr; });
  CHECK(none.file.empty());
  CHECK_FALSE(none.steps.has_value());
  CHECK_FALSE(none.memory);
}

TEST_CASE("collector: a range of steps is two counts in order") {
  CHECK(step_range_of("2:5")->last == 5);
  CHECK(step_range_of("7")->first == 7);
  CHECK(step_range_of("7")->last == 7);
  for (const char* wrong : {"", ":", "5:2", "a:b", "1:", ":1", "-1:2", "1:2:3", "1 2"}) {
    CAPTURE(wrong);
    CHECK_FALSE(step_range_of(wrong).has_value());
  }
}

TEST_CASE("collector: each process has its file") {
  CHECK(file_of_process("a/run.1f2e", "", 42) == "a/run.1f2e.42.ftr");
  CHECK(file_of_process("a/run.1f2e", "node7", 42) == "a/run.1f2e.node7.42.ftr");
  CHECK(file_of_process("a/run.1f2e", "", 42, 2) == "a/run.1f2e.42-2.ftr");
  CHECK(note_of_process("a/run.1f2e", "node7", 42) == "a/run.1f2e.node7.42.note");
}

TEST_CASE("collector: the name of a host is fit for a file name") {
  const std::string host = host_name();
  CHECK(host.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") ==
        std::string::npos);
  CHECK(host.size() < 64);
}

TEST_CASE("collector: two names of one open file have one identity, a closed one has none") {
  const int file = ::open("/dev/null", O_RDONLY);
  const int same = ::dup(file);
  const int other = ::open("/dev/zero", O_RDONLY);
  CHECK(file_identity(file) == file_identity(same));
  CHECK(file_identity(file) != file_identity(other));
  for (const int descriptor : {file, same, other}) {
    ::close(descriptor);
  }
  CHECK(file_identity(file).empty());
}

TEST_CASE("collector: names of steps") {
  for (const char* step :
       {"ProfilerStep#3", "step 3", "Step_12", "iteration: 7", "iter3", "step"}) {
    CAPTURE(step);
    CHECK(names_step(step));
  }
  for (const char* other : {"", "steps", "stepwise", "optimizer.step", "forward", "iterator 3"}) {
    CAPTURE(other);
    CHECK_FALSE(names_step(other));
  }
}

TEST_CASE("collector: recording starts with the first step asked for and stops behind the last") {
  using Change = StepWindow::Change;
  StepWindow window({1, 2});
  CHECK(window.seen() == std::pair(std::int64_t{0}, StepWindow::Mark::none));
  CHECK(window.range_began("step 0") == Change::none);
  CHECK(window.range_began("forward") == Change::none);
  CHECK(window.range_began("step 1") == Change::start);
  CHECK(window.range_began("Optimizer.step#SGD.step") == Change::none);  // steps came first
  CHECK(window.range_began("step 2") == Change::step);
  CHECK(window.range_began("step 3") == Change::stop);
  CHECK(window.range_began("step 4") == Change::off);
  CHECK(window.range_began("step 5") == Change::none);
  CHECK(window.seen() == std::pair(std::int64_t{6}, StepWindow::Mark::steps));
  StepWindow first({0, 0});
  CHECK(first.range_began("step") == Change::start);
  CHECK(first.range_began("step") == Change::stop);
}

TEST_CASE("collector: without ranges of steps the updates of the first optimizer count") {
  using Change = StepWindow::Change;
  StepWindow window({1, 1});
  CHECK(window.range_began("aten::mm") == Change::none);
  CHECK(window.range_began("Optimizer.step#Adam.step, seq = 1") == Change::none);
  CHECK(window.range_began("Optimizer.step#SGD.step, seq = 2") == Change::none);
  CHECK(window.range_began("Optimizer.zero_grad#Adam.zero_grad") == Change::none);
  CHECK(window.range_began("Optimizer.step#Adam.step, seq = 3") == Change::start);
  CHECK(window.range_began("Optimizer.step#SGD.step, seq = 4") == Change::none);
  CHECK(window.range_began("step 9") == Change::none);
  CHECK(window.range_began("Optimizer.step#Adam.step, seq = 5") == Change::stop);
  CHECK(window.seen() == std::pair(std::int64_t{3}, StepWindow::Mark::updates));
  CHECK(names_update("optimizer_step"));
  CHECK_FALSE(names_update("optimizer"));
  CHECK_FALSE(names_update("my Optimizer.step"));
}

TEST_CASE("collector: a recording of steps says what is missing of them, and why") {
  const auto warning = [](const char* asked, const char* seen) {
    return step_warning({{"steps", asked}, {"steps seen", seen}, {"steps by", "steps"}});
  };
  CHECK(warning("1:2", "4").empty());
  CHECK(warning("1:2", "3").empty());  // the last one ended with the program
  CHECK(warning("1:2", "0")
            .find("nothing was recorded: steps 1:2 were requested and no step was seen") == 0);
  CHECK(warning("4:5", "1") ==
        "nothing was recorded: steps 4:5 were requested, the program began 1 step");
  CHECK(warning("1:2", "2") ==
        "steps 1:2 were requested, the program began 2 steps: the last ones are missing");
  CHECK(step_warning({}).empty());
  CHECK(step_warning({{"steps", "1:2"}}).empty());  // killed before it could count
  CHECK(step_text({{"steps", "1:2"}, {"steps seen", "7"}, {"steps by", "updates"}}) ==
        "1:2 of 7, counted by updates");
  CHECK(step_text({}).empty());
}

}  // namespace
}  // namespace foretrace::trace::collector
