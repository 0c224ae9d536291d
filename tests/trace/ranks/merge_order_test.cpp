#include "trace/ranks/merge_order.h"

#include <vector>

#include <doctest/doctest.h>

namespace foretrace::trace {

TEST_CASE("merge order: ranks that reach rendezvous in one order keep them all") {
  const std::vector<std::vector<std::uint32_t>> arrivals = {{0, 1, 2}, {0, 2}, {1, 2}};
  const std::vector<std::uint32_t> members = {2, 2, 3};
  CHECK(conflicting_joins(arrivals, members).empty());
  CHECK(conflicting_joins({}, {}).empty());
}

TEST_CASE("merge order: of two in contradicting orders one is given up") {
  // Rank 0 waits in 0 for rank 1, which waits in 1 for rank 0.
  const std::vector<std::vector<std::uint32_t>> arrivals = {{0, 1, 2}, {1, 0, 2}};
  const std::vector<std::uint32_t> members = {2, 2, 2};
  CHECK(conflicting_joins(arrivals, members) == std::vector<std::uint32_t>{0});
}

TEST_CASE("merge order: one that a rank never reaches is given up") {
  const std::vector<std::vector<std::uint32_t>> arrivals = {{0, 1}, {1}};
  const std::vector<std::uint32_t> members = {2, 2};
  CHECK(conflicting_joins(arrivals, members) == std::vector<std::uint32_t>{0});
}

TEST_CASE("merge order: times are added up, the host's and the device's are the largest") {
  std::vector<RankFacts> ranks(2);
  ranks[0].rank = 4;
  ranks[0].honesty.unexplained_device_ns = 5;
  ranks[0].honesty.host_only_ns = 70;
  ranks[0].honesty.flags = {"shared device"};
  ranks[1].honesty.unexplained_device_ns = 6;
  ranks[1].honesty.host_only_ns = 60;
  const Honesty sum = sum_honesty(ranks, 100);
  CHECK(sum.unexplained_device_ns == 11);
  CHECK(sum.host_only_ns == 70);
  CHECK(sum.span_ns == 100);
  CHECK(sum.flags == std::vector<std::string>{"rank 4: shared device"});
}

}  // namespace foretrace::trace
