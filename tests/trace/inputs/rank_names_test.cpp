#include "trace/inputs/rank_names.h"

#include <doctest/doctest.h>

namespace foretrace::trace {

TEST_CASE("rank names: a name tells its rank after 'rank', after 'worker', else last") {
  CHECK(rank_of_name("x/straggler_rank2.json.gz") == 2);
  CHECK(rank_of_name("rank-07_step_3.pt.trace.json") == 7);
  CHECK(rank_of_name("worker3_step_12.1694128201557.pt.trace.json") == 3);
  CHECK(rank_of_name("kineto_5.json") == 5);
  CHECK_FALSE(rank_of_name("trace.json").has_value());
  CHECK_FALSE(rank_of_name("host_1375.1724066820235157909.pt.trace.json").has_value());
}

TEST_CASE("rank names: files of one job differ in rank and time stamps only") {
  CHECK(pattern_of_name("d/kineto_0.json.gz") == pattern_of_name("kineto_11.json.gz"));
  CHECK(pattern_of_name("worker1_step_12.1694128201556.json") ==
        pattern_of_name("worker2_step_12.1694128201554.json"));
  CHECK(pattern_of_name("et_0.json.gz") != pattern_of_name("kineto_0.json.gz"));
}

}  // namespace foretrace::trace
