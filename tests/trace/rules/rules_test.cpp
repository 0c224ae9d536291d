#include "trace/rules/rules.h"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "tests/trace/rules/table_builder.h"
#include "trace/rules/build_graph.h"

namespace foretrace::trace {
namespace {

EventTable one_kernel() {
  TableBuilder t;
  const EventId call = t.call(t.thread(1), "cudaLaunchKernel", 0, 5);
  t.work(call, t.stream(7), 7, 10);
  return t.table();
}

Result<BuiltGraph> build_without(const char* rule) {
  BuildOptions options;
  options.without_rules = {rule};
  return build_graph(one_kernel(), options);
}

}  // namespace

TEST_CASE(
    "rules: each has its place in the order, a name of its own and one line on what it does") {
  const auto order = rules::in_order();
  CHECK(order.size() == rules::all().size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    CAPTURE(order[i]->name);
    CHECK(order[i]->doc.size() > 20);
    CHECK(order[i]->doc.find('\n') == std::string_view::npos);
    CHECK(std::count_if(order.begin(), order.end(), [&](const rules::Rule* other) {
            return other->name == order[i]->name;
          }) == 1);
    const bool collects = order[i]->stage == rules::Stage::collect;
    CHECK((i == 0 || !collects || order[i - 1]->stage == rules::Stage::collect));
  }
}

TEST_CASE("rules: every one that others do not need can be left out") {
  for (const rules::Rule* rule : rules::in_order()) {
    CAPTURE(rule->name);
    const Result<BuiltGraph> built = build_without(std::string(rule->name).c_str());
    CHECK(built.ok() != rule->required);
    if (!built.ok()) {
      CHECK(built.error().message ==
            "the rule " + std::string(rule->name) + " cannot be left out: others need it");
    }
  }
}

TEST_CASE("rules: a name that none has is refused with the nearest one") {
  const Result<BuiltGraph> built = build_without("hand_ovr");
  REQUIRE_FALSE(built.ok());
  CHECK(built.error().code == ErrorCode::bad_usage);
  CHECK(built.error().message == "no rule is called 'hand_ovr' (did you mean 'hand_over'?)");
}

}  // namespace foretrace::trace
