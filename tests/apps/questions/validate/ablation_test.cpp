#include "apps/questions/validate/ablation.h"

#include <string>

#include <doctest/doctest.h>

#include "tests/configs.h"

namespace foretrace {
namespace {

const std::string folder = FORETRACE_SOURCE_DIR "/examples/traces";

TEST_CASE("ablation: without host gaps every replay differs, and the means tell by how much") {
  const auto table = ablation_table(test::shipped(), folder, "host_gaps");
  REQUIRE_MESSAGE(table.ok(), table.error().message);
  REQUIRE(table->size() == 1);
  const AblatedRule& rule = table->front();
  CHECK(rule.traces.size() > 1);
  CHECK(rule.differing() > 0);
  REQUIRE(rule.most_moved() != nullptr);
  CHECK(rule.mean(&AblatedTrace::without, &GraphErrors::span) >
        rule.mean(&AblatedTrace::with, &GraphErrors::span));
}

TEST_CASE("ablation: each rule in turn, and what cannot be left out is an error") {
  const auto all = ablation_table(test::shipped(), folder, "all");
  REQUIRE(all.ok());
  CHECK(all->size() > 10);
  const auto unknown = ablation_table(test::shipped(), folder, "synchronisation");
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().message.find("synchronization") != std::string::npos);
  CHECK_FALSE(ablation_table(test::shipped(), folder, "threads").ok());
}

}  // namespace
}  // namespace foretrace
