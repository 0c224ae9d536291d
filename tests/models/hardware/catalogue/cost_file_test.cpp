#include "models/hardware/catalogue/cost_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "models/hardware/catalogue/catalogue.h"
#include "tests/configs.h"

using namespace foretrace;

namespace {

CalibratedOperator some_fit() {
  CalibratedOperator fitted;
  fitted.accelerator = "t4";
  OperatorFit& fit = fitted.chosen.fit;
  fit.kind = OperatorKind::gemm;
  fit.precision = Precision::fp32;
  fit.form = FitForm::tiles;
  fit.rate_share = 0.7537;
  fit.bandwidth_share = 0.5;
  fit.fixed_ns = 4364;
  fit.operand_traffic = 19.65;
  fit.tile_overhead_k = 25.6;
  fit.split_ns = 1410;
  fit.low = 0.9;
  fit.high = 1.2;
  fitted.chosen.sources.push_back({"someone's table", 1.19, 5000, 6000});
  fitted.chosen.held_back = {12, 0.05, 0.04, 0.1, -0.01};
  fitted.roofline.held_back = {12, 0.07, 0.06, 0.2, 0.01};
  return fitted;
}

std::string error_of(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  const auto file = parse_cost_file(text, "costs.json");
  REQUIRE_FALSE(file.ok());
  return file.error().message;
}

}  // namespace

TEST_CASE("cost file: what is written reads back to the same constants") {
  CostFile file;
  file.tables.push_back({"a \"table\"", "somewhere", "MIT", ""});
  file.operators.push_back(some_fit());
  const std::string text = cost_file_text(file);
  const auto again = parse_cost_file(text, "costs.json");
  REQUIRE_MESSAGE(again.ok(), again.error().message);
  CHECK(cost_file_text(*again) == text);
  const OperatorFit& fit = again->operators.front().chosen.fit;
  CHECK(fit.operand_traffic == 19.65);
  CHECK(fit.fixed_ns == 4364);
  CHECK(again->operators.front().chosen.sources.front().clock == 1.19);
}

TEST_CASE("cost file: mistakes are named by their pointer") {
  CostFile file;
  file.operators.push_back(some_fit());
  const std::string text = cost_file_text(file);
  CHECK(error_of(text, "\"gemm\"", "\"gem\"")
            .starts_with("costs.json: /fits/0/operator: got 'gem' (did you mean 'gemm'?)"));
  CHECK(error_of(text, "\"tiles\"", "\"rows\"")
            .starts_with("costs.json: /fits/0/form: got rows for gemm"));
  CHECK(error_of(text, "\"bandwidth_share\": 0.5", "\"bandwidth_share\": 0") ==
        "costs.json: /fits/0/constants/bandwidth_share: got 0, expected a value from 1e-06 to 10");
  CHECK(error_of(text, "\"split\": \"1410 ns\"", "\"split\": 1410")
            .starts_with(
                "costs.json: /fits/0/constants/split: got the number 1410, expected a time"));
  CHECK(error_of(text, "foretrace.costs/1", "foretrace.costs/9").find("/schema") !=
        std::string::npos);
}

TEST_CASE("cost file: every file of ours reads, and its accelerators exist and use it") {
  int files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(FORETRACE_SOURCE_DIR "/configs/costs")) {
    CAPTURE(entry.path().string());
    const auto file = read_cost_file(entry.path().string());
    REQUIRE_MESSAGE(file.ok(), file.error().message);
    ++files;
    CHECK_FALSE(file->tables.empty());
    for (const TableOrigin& table : file->tables) CHECK_FALSE(table.origin.empty());
    for (const CalibratedOperator& fitted : file->operators) {
      const auto accelerator = foretrace::test::find_accelerator(fitted.accelerator);
      REQUIRE_MESSAGE(accelerator.ok(), accelerator.error().message);
      CHECK(std::any_of(accelerator->fits.begin(), accelerator->fits.end(),
                        [&](const OperatorFit& fit) {
                          return fit.kind == fitted.chosen.fit.kind &&
                                 fit.precision == fitted.chosen.fit.precision;
                        }));
    }
  }
  CHECK(files >= 2);
}

TEST_CASE("cost file: a folder that is not there has none, a broken file is an error") {
  CHECK(read_cost_files("/no/such/folder")->empty());
  const auto folder = std::filesystem::temp_directory_path() / "foretrace_cost_file_test";
  std::filesystem::create_directories(folder / "costs");
  std::ofstream(folder / "costs/broken.json") << "{";
  const auto broken = read_cost_files(folder.string());
  REQUIRE_FALSE(broken.ok());
  CHECK(broken.error().message.find("broken.json") != std::string::npos);
  CHECK_FALSE(Catalogue::read(folder.string()).ok());
  std::filesystem::remove_all(folder);
}
