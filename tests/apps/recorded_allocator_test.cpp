// What the allocator reserves under other settings, against runs with them (examples/traces).
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/apps/support/program.h"

namespace foretrace::test {
namespace {

const std::string recordings =
    std::string(FORETRACE_SOURCE_DIR) + "/examples/traces/h100_allocator";

// Reserved bytes of each run that had no limit, by its setting.
std::map<std::string, double> measured_reserved() {
  std::map<std::string, double> by_setting;
  std::ifstream file(recordings + "/allocator.csv");
  for (std::string line; std::getline(file, line);) {
    std::istringstream cells(line);
    std::string program;
    std::string setting;
    std::string limit;
    std::string requested;
    std::string allocated;
    std::string reserved;
    for (std::string* const cell :
         {&program, &setting, &limit, &requested, &allocated, &reserved}) {
      std::getline(cells, *cell, ',');
    }
    if (program == "train" && limit.empty()) {
      by_setting[setting] = std::stod(reserved);
    }
  }
  return by_setting;
}

}  // namespace

TEST_CASE("one snapshot tells what the allocator reserves under four settings, within 2 %") {
  const std::map<std::string, double> measured = measured_reserved();
  REQUIRE(measured.size() == 4);
  for (const auto& [setting, option] :
       {std::pair{"default", ""}, std::pair{"expandable", " --allocator expandable_segments:True"},
        std::pair{"split_64", " --allocator max_split_size_mb:64"},
        std::pair{"power_4", " --allocator roundup_power2_divisions:4"}}) {
    const std::string name = setting;
    CAPTURE(name);
    const Ran ran = run_program("inspect '" + recordings +
                                "/train.default.snapshot.pickle.gz' --memory --json" + option);
    REQUIRE(ran.code == 0);
    const auto document = nlohmann::json::parse(ran.out);
    const auto& device = document["traces"][0]["device_memory"]["devices"][0];
    CHECK(device["reserved"]["expected_bytes"].get<double>() ==
          doctest::Approx(measured.at(name)).epsilon(0.02));
  }
}

}  // namespace foretrace::test
