// A run on several streams that wait for each other in turn is the run on one stream: no what-if
// makes it shorter than that one, because of a wait that it lost.
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "apps/session/session.h"
#include "models/whatifs/what_if.h"
#include "models/whatifs/what_if_spec.h"
#include "tests/models/streams_in_turn.h"
#include "tests/models/toy_transformer.h"
#include "tests/models/whatifs/examples.h"

using namespace foretrace;
using foretrace::test::Choices;
using foretrace::test::Given;

namespace {

/// Models that know nothing of each other may meet at their ends.
bool has_passes_beside_each_other(std::string_view what_if) { return what_if == "mu_two"; }

std::vector<Given> settings_of(const WhatIfInfo& info) {
  std::vector<Given> settings = {test::example_of(info.name)};
  if (info.name != "parallel") return settings;
  for (const Given& given :
       std::initializer_list<Given>{{{"tensor", "2"}},
                                    {{"tensor", "4"}, {"sequence", "true"}},
                                    {{"data", "8"}, {"zero", "1"}},
                                    {{"data", "8"}, {"zero", "2"}},
                                    {{"data", "8"}, {"zero", "3"}},
                                    {{"pipeline", "2"}},
                                    {{"pipeline", "2"}, {"tensor", "2"}, {"data", "4"}}}) {
    settings.push_back(given);
    settings.back().emplace_back("cluster", "dgx_a100");
  }
  return settings;
}

/// Nothing where the what-if declines.
std::int64_t span_after(const TaskGraph& graph, const WhatIfInfo& info, const Given& given,
                        const Accelerator& accelerator) {
  const auto change = test::apply_to(graph, info, given, &accelerator);
  if (!change) return 0;
  const auto committed = commit(graph, *change);
  REQUIRE_MESSAGE(committed.ok(), committed.error().message);
  return test::span_ns(committed->graph);
}

}  // namespace

TEST_CASE("streams in turn: no what-if makes them faster than one stream") {
  const Accelerator a100 = test::toy_accelerator();
  std::set<std::string_view> applied;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    Choices choices(seed);
    const TaskGraph run = test::toy_transformer(
        {.layers = 4, .names_modules = true, .eager = seed % 2 == 0, .copies = seed > 2});
    const TaskGraph one = test::in_turn(run, 1, choices);
    const TaskGraph several = test::in_turn(run, 3, choices);
    REQUIRE(test::span_ns(several) == test::span_ns(one));
    for (const WhatIfInfo* info : what_ifs::all()) {
      const std::string name(info->name);
      CAPTURE(name);
      for (const Given& given : settings_of(*info)) {
        const std::int64_t on_one = span_after(one, *info, given, a100);
        const std::int64_t on_several = span_after(several, *info, given, a100);
        if (on_one == 0 || on_several == 0) continue;
        applied.insert(info->name);
        const double least = has_passes_beside_each_other(name) ? 0.97 : 0.995;
        CHECK(static_cast<double>(on_several) >= least * static_cast<double>(on_one));
      }
    }
  }
  CHECK(applied.size() > 30);
}

TEST_CASE("recordings of several streams: no what-if answers with an error of ours") {
  // Work that waits for another stream, or for room on the device, stands far behind its call.
  for (const char* file : {"examples/traces/h100/vgg19.baseline.ftr.gz",
                           "examples/traces/h200/gnmt.baseline.ftr.gz"}) {
    CAPTURE(file);
    const auto session = open(FORETRACE_SOURCE_DIR "/" + std::string(file),
                              {.configs = FORETRACE_SOURCE_DIR "/configs"});
    REQUIRE_MESSAGE(session.ok(), session.error().message);
    std::size_t applied = 0;
    for (const WhatIfInfo* info : what_ifs::all()) {
      const std::string name(info->name);
      CAPTURE(name);
      for (const Given& given : settings_of(*info)) {
        const WhatIfSpec spec{name, given};
        const auto answer = session->ask({spec});
        if (answer.ok()) {
          ++applied;
          continue;
        }
        CAPTURE(answer.error().message);
        const ErrorCode code = answer.error().code;
        CHECK((code == ErrorCode::no_match || code == ErrorCode::unsupported ||
               code == ErrorCode::missing_cost));
      }
    }
    CHECK(applied > 25);
  }
}
