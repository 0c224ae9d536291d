#include "trace/ranks/merge_order.h"

#include <vector>

#include <doctest/doctest.h>

namespace foretrace::trace {
namespace {

using Arrivals = std::vector<std::vector<Arrival>>;

/// A rank that waits in each of these.
std::vector<Arrival> at(const std::vector<std::uint32_t>& joins) {
  std::vector<Arrival> list;
  for (const std::uint32_t join : joins) {
    list.push_back({{join}, {}});
  }
  return list;
}

}  // namespace

TEST_CASE("merge order: ranks that reach rendezvous in one order keep them all") {
  const Arrivals arrivals = {at({0, 1, 2}), at({0, 2}), at({1, 2})};
  const std::vector<std::uint32_t> members = {2, 2, 3};
  CHECK(conflicting_joins(arrivals, members).empty());
  CHECK(conflicting_joins({}, {}).empty());
}

TEST_CASE("merge order: of two in contradicting orders one is given up") {
  // Rank 0 waits in 0 for rank 1, which waits in 1 for rank 0.
  const Arrivals arrivals = {at({0, 1, 2}), at({1, 0, 2})};
  const std::vector<std::uint32_t> members = {2, 2, 2};
  CHECK(conflicting_joins(arrivals, members) == std::vector<std::uint32_t>{0});
}

TEST_CASE("merge order: one that a rank never reaches is given up") {
  const Arrivals arrivals = {at({0, 1}), at({1})};
  const std::vector<std::uint32_t> members = {2, 2};
  CHECK(conflicting_joins(arrivals, members) == std::vector<std::uint32_t>{0});
}

TEST_CASE("merge order: who only announces itself does not wait, and a kernel may meet several") {
  // Rank 0 sends in 0 and then receives in 1, rank 1 the other way round: sends are buffered.
  const Arrivals buffered = {{Arrival{{}, {0}}, Arrival{{1}, {}}},
                             {Arrival{{}, {1}}, Arrival{{0}, {}}}};
  CHECK(conflicting_joins(buffered, std::vector<std::uint32_t>{2, 2}).empty());
  // A kernel that meets both neighbours at once goes on when both are there.
  const Arrivals both = {at({0}), {Arrival{{0, 1}, {}}}, at({1})};
  CHECK(conflicting_joins(both, std::vector<std::uint32_t>{2, 2}).empty());
  CHECK(conflicting_joins(both, std::vector<std::uint32_t>{2, 3}) == std::vector<std::uint32_t>{1});
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
