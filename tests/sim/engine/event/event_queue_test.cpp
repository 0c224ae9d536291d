#include "sim/engine/event/event_queue.h"

#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace foretrace {
namespace {

TEST_CASE_TEMPLATE("event queue: equal times leave in order of arrival", Queue, HeapQueue,
                   CalendarQueue) {
  Queue queue = [] {
    if constexpr (std::is_same_v<Queue, CalendarQueue>) {
      return CalendarQueue(1000, 16);
    } else {
      return HeapQueue();
    }
  }();
  for (std::uint32_t i = 0; i < 100; ++i) {
    queue.push(i % 3 == 0 ? 7 : 5, i);
  }
  std::vector<std::uint32_t> order;
  while (!queue.empty()) {
    order.push_back(queue.pop().payload);
  }
  REQUIRE(order.size() == 100);
  CHECK(order[0] == 1);
  CHECK(order[1] == 2);
  CHECK(order[2] == 4);
  CHECK(order[66] == 0);  // 66 events at time 5, then those at 7
  CHECK(order[67] == 3);
}

TEST_CASE("event queue: heap and calendar give the same order while events are added") {
  for (const std::int64_t reach : {1, 50, 3000, 5'000'000}) {
    CAPTURE(reach);
    std::mt19937_64 random(11);
    HeapQueue heap;
    CalendarQueue calendar(1000, 64);
    std::int64_t now = 0;
    for (std::uint32_t i = 0; i < 20000; ++i) {
      const bool add = heap.empty() || random() % 2 == 0 || heap.size() < 20;
      if (add) {
        // Now and then far beyond the ring.
        const std::int64_t ahead =
            static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(reach)) *
            (random() % 100 == 0 ? 100000 : 1);
        heap.push(now + ahead, i);
        calendar.push(now + ahead, i);
        continue;
      }
      CHECK(calendar.top().payload == heap.top().payload);
      const Event a = heap.pop();
      const Event b = calendar.pop();
      REQUIRE(a.time_ns == b.time_ns);
      REQUIRE(a.payload == b.payload);
      REQUIRE(a.time_ns >= now);
      now = a.time_ns;
    }
    CHECK(heap.size() == calendar.size());
  }
}

TEST_CASE("event queue: an event before the open bucket's time still comes first") {
  CalendarQueue calendar(1'000'000, 16);
  calendar.push(5'000'000, 1);
  CHECK(calendar.top().payload == 1);  // opens the bucket of 5 ms
  calendar.push(1'000'000, 2);
  CHECK(calendar.pop().payload == 2);
  CHECK(calendar.pop().payload == 1);
  CHECK(calendar.empty());
}

}  // namespace
}  // namespace foretrace
