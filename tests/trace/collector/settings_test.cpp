// What travels through the environment, and which ranges stand for steps.
#include "trace/collector/settings.h"

#include <map>
#include <string>

#include <doctest/doctest.h>

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
  const Settings all = through_environment({"a/run.%p.ftr", StepRange{2, 5}, true, true});
  CHECK(all.file == "a/run.%p.ftr");
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
  CHECK(file_of_process("a/run.%p.ftr", 42) == "a/run.42.ftr");
  CHECK(file_of_process("run.ftr", 42) == "run.ftr");
  CHECK(file_of_process("%p/run.%p.ftr", 1) == "%p/run.1.ftr");
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
  CHECK(window.step_began() == Change::none);
  CHECK(window.step_began() == Change::start);
  CHECK(window.step_began() == Change::none);
  CHECK(window.step_began() == Change::stop);
  CHECK(window.step_began() == Change::none);
  StepWindow first({0, 0});
  CHECK(first.step_began() == Change::start);
  CHECK(first.step_began() == Change::stop);
}

}  // namespace
}  // namespace foretrace::trace::collector
