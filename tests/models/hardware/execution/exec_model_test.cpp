#include "tests/models/hardware/execution/machine.h"

using foretrace::ExecModel;
using foretrace::test::machine;
using foretrace::test::machine_error;

TEST_CASE("exec_model: one machine, any options, in any order") {
  const ExecModel model = machine(
      R"({"weight_buffer": {"size": "1 KiB"}, "systolic": {"rows": 4, "cols": 8, "clock_mhz": 10}})");
  CHECK(model.machine().name == "systolic");
  REQUIRE(model.parts().size() == 2);
  CHECK(model.parts()[0].name == "systolic");
  CHECK(model.text().starts_with("systolic (rows 4, cols 8, arrays 1, clock_mhz 10"));
  CHECK(model.text().ends_with("; weight_buffer (size 1 KiB)"));
  CHECK(model.start_ns() == 0);
  CHECK(model.weight_store() == 0);
}

TEST_CASE("exec_model: a scenario changes single parameters and adds options") {
  const ExecModel model = machine(R"({"systolic": {"rows": 4, "cols": 8, "clock_mhz": 10}})");
  const auto change = foretrace::parse_config(
      R"({"systolic": {"rows": 16}, "sparse_lanes": {"activations": 0.5}})");
  REQUIRE(change.ok());
  const auto changed = model.changed_by(*change);
  REQUIRE_MESSAGE(changed.ok(), (changed.ok() ? "" : changed.error().message));
  CHECK(changed->text().starts_with("systolic (rows 16, cols 8, arrays 1, clock_mhz 10"));
  CHECK(changed->parts().size() == 2);
  // What it was made from stays.
  CHECK(model.text().starts_with("systolic (rows 4"));
}

TEST_CASE("exec_model: wrong ones are one line with what is expected") {
  CHECK(machine_error("{}").starts_with("got 0 machines, expected one of bsp, dataflow"));
  CHECK(machine_error(R"({"sistolic": {}})")
            .starts_with("got 'sistolic' (did you mean 'systolic'?), expected some of"));
  CHECK(machine_error(R"({"systolic": 3})") ==
        "systolic: got the number 3, expected an object of its parameters");
  CHECK(machine_error(R"({"systolic": {"rows": [1]}})")
            .starts_with("systolic: parameter 'rows': got a list, expected a number or a text"));
  CHECK(
      machine_error(
          R"({"systolic": {"rows": 4, "cols": 8, "clock_mhz": 10}, "bsp": {"tiles": 1, "exchange": "1 B/s"}})")
          .starts_with("got 2 machines, expected one of"));
  CHECK(machine_error(R"({"bsp": {"tiles": 1, "exchange": 5}})").find("'exchange': got") !=
        std::string::npos);
}

TEST_CASE("exec_model: every component says what it is, and is a machine or an option") {
  for (const foretrace::ExecModelInfo* info : foretrace::exec_models::all()) {
    CAPTURE(info->name);
    CHECK_FALSE(info->summary.empty());
    CHECK_FALSE(info->paper.empty());
    CHECK_FALSE(info->recipe.empty());
    CHECK_FALSE(info->assumptions.empty());
    CHECK_FALSE(info->ignores.empty());
    CHECK_FALSE(info->calibrate.empty());
    CHECK((info->time != nullptr || info->change_time != nullptr));
  }
}
