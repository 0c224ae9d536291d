#include "apps/report/sweep/picture.h"

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "apps/sweep/run.h"
#include "tests/apps/support/program.h"
#include "tests/configs.h"

namespace foretrace::report {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

sweeping::StoredSweep computed(const std::string& name, const std::string& objectives) {
  const std::string scenario =
      std::filesystem::absolute("configs/scenarios/gpt3_175b_selene.json").string();
  const std::string text = R"({"schema": "foretrace.sweep/1", "scenario": ")" + scenario + R"(",
    "axes": [{"pointer": "/recompute", "values": ["none", "selective", "full"]},
             {"pointer": "/batch/micro", "values": [1, 2, 4]},
             {"name": "all", "pointer": "/batch/global", "values": [1536]}],
    "objectives": )" + objectives +
                           "}";
  auto sweep = sweeping::parse_sweep(text, "test.json", "");
  REQUIRE_MESSAGE(sweep.ok(), (sweep.ok() ? "" : sweep.error().message));
  const std::string folder = test::scratch_file(name);
  const auto run =
      sweeping::run_sweep(*sweep, folder, {.catalogue = test::shipped(), .version = "1"});
  REQUIRE(run.ok());
  auto stored = sweeping::open_stored(folder);
  REQUIRE(stored.ok());
  return std::move(*stored);
}

}  // namespace

TEST_CASE("sweep picture: a front where there are two objectives, a panel per axis with a choice") {
  const auto both = computed("picture_two", R"(["step_ns", "memory_bytes"])");
  const auto two = sweep_picture(both, {});
  REQUIRE(two.ok());
  CHECK(count(*two, "memory_bytes against step_ns") == 1);
  CHECK(count(*two, "moves the best by") == 2);  // recompute and micro, not the one value of all
  CHECK(two->find("</svg>") != std::string::npos);
  CHECK(*sweep_picture(both, {}) == *two);  // the same bytes
  const auto one = sweep_picture(computed("picture_one", R"(["step_ns"])"), {});
  REQUIRE(one.ok());
  CHECK(count(*one, "against") == 0);
  CHECK(count(*one, "moves the best by") == 2);
}

TEST_CASE("sweep picture: without a feasible point there is none") {
  const auto stored = computed("picture_none", R"(["step_ns"])");
  auto where = sweeping::Expression::parse("step_ns < 0", stored.sweep.names);
  REQUIRE(where.ok());
  const auto none = sweep_picture(stored, {.where = *where});
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().message.find("no point is feasible") != std::string::npos);
}

}  // namespace foretrace::report
