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

TEST_CASE("rank names: files of one job whose names carry hashes are one job") {
  CHECK(pattern_of_name("f9347d1972e2_308294.1737854041016889671.pt.trace.json") ==
        pattern_of_name("d/7f9abe8a4e8c_7101.1700560457683344186.pt.trace.json"));
  CHECK(pattern_of_name("node1_1375.1724066820235157909.pt.trace.json") ==
        pattern_of_name("node1_1376.1724066820235157999.pt.trace.json"));
  CHECK(pattern_of_name("run_9f86d081884c7d65_rank0.json") ==
        pattern_of_name("run_60303ae22b998861_rank1.json"));
  CHECK(pattern_of_name("3f2504e0-4f89-11d3-9a0c-0305e82c3301.rank0.json") ==
        pattern_of_name("6ba7b810-9dad-11d1-80b4-00c04fd430c8.rank1.json"));
  // Words and small numbers in front tell jobs apart.
  CHECK(pattern_of_name("llama_7b_rank0.json") != pattern_of_name("llama_13b_rank0.json"));
  CHECK(pattern_of_name("deadbeef_rank0.json") != pattern_of_name("cafefeed_rank0.json"));
}

TEST_CASE("rank names: digits of a hash are no rank") {
  CHECK_FALSE(rank_of_name("trace_9f86d081884c7d65.json").has_value());
  CHECK(rank_of_name("9f86d081884c7d65_3.json") == 3);
  CHECK_FALSE(rank_of_name("f9347d1972e2_308294.1737854041016889671.pt.trace.json").has_value());
  CHECK(names_rank("x_rank3.json"));
  CHECK(names_rank("worker0.pt.trace.json"));
  CHECK_FALSE(names_rank("workers0_v100.json"));
}

}  // namespace foretrace::trace
