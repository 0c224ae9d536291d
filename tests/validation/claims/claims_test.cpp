// Published claims beside predictions: the comparison, and the table on the shared recordings.
#include "tests/validation/claims/claims.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/hardware/catalogue/accelerator.h"
#include "tests/configs.h"

namespace foretrace {

TEST_CASE("claims: a range that meets the published one is inside, whichever is wider") {
  CHECK(compare_gains({1, 1.7}, {1.2, 1.4}) == Verdict::inside);
  CHECK(compare_gains({1.2, 1.2}, {1.1, 1.3}) == Verdict::inside);
  CHECK(compare_gains({1.3, 1.5}, {1.1, 1.2}) == Verdict::below);
  CHECK(compare_gains({1.1, 1.2}, {1.3, 1.5}) == Verdict::above);
}

TEST_CASE("claims: a loss where a gain is published is opposite, a loss within 1 % is not") {
  CHECK(compare_gains({1.2, 1.5}, {0.8, 0.9}) == Verdict::opposite);
  CHECK(compare_gains({1.2, 1.5}, {0.9, 0.995}) == Verdict::below);
  CHECK(compare_gains({0.7, 0.8}, {1.1, 1.2}) == Verdict::opposite);
  CHECK(compare_gains({0.7, 0.8}, {0.9, 1.005}) == Verdict::above);
}

TEST_CASE("claims: what is not comparable is not inside, whatever the figures say") {
  ClaimRow row;
  row.published_gain = Gain{1, 14};
  row.predicted = {2, 3};
  CHECK(row.verdict() == Verdict::inside);
  row.not_comparable = "the recording lacks the effect";
  CHECK(row.verdict() == Verdict::not_comparable);
  row.failure = "recording not found";
  CHECK(row.verdict() == Verdict::not_compared);
}

TEST_CASE("claims: without the recordings every row that needs one says so, none is dropped") {
  const std::vector<ClaimRow> rows = claim_table(test::shipped(), "/nonexistent").value();
  CHECK(rows.size() >= 80);
  std::size_t from_scenarios = 0;
  for (const ClaimRow& row : rows) {
    INFO(row.name);
    if (row.failure.empty()) {
      ++from_scenarios;
      CHECK(row.predicted_gain > 1);
    } else {
      CHECK(row.verdict() == Verdict::not_compared);
    }
    CHECK(!row.source.empty());
    CHECK(!row.published.empty());
  }
  CHECK(from_scenarios == 9);
}

TEST_CASE("claims: no published gain is met by a predicted loss, and every recipe applies") {
  const std::string traces = std::string(FORETRACE_SHARED_DIR) + "/traces";
  if (!std::filesystem::exists(traces)) {
    MESSAGE("SKIPPED: no shared recordings at " << traces);
    return;
  }
  const std::vector<ClaimRow> rows = claim_table(test::shipped(), traces).value();
  const auto wide = [](const ClaimRow& row) {
    return row.of == GainOf::kernels && row.predicted.low < row.predicted.high;
  };
  CHECK(std::any_of(rows.begin(), rows.end(), wide));  // kernels are evaluated at both ends
  for (const ClaimRow& row : rows) {
    INFO(row.name << ": " << row.failure);
    // A what-if may find nothing to change, or all as good as it gets; nothing else may go wrong.
    CHECK((row.applied.empty() || row.failure.empty() || row.failed_with == ErrorCode::no_match));
    CHECK(row.verdict() != Verdict::opposite);
    CHECK(row.predicted.low <= row.predicted_gain * 1.000001);
    CHECK(row.predicted_gain <= row.predicted.high * 1.000001);
  }
}

}  // namespace foretrace
