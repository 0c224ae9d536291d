#include <doctest/doctest.h>

#include "tests/trace/rules/spans.h"
#include "tests/trace/rules/table_builder.h"

namespace foretrace::trace {
namespace {

TEST_CASE("long_memsets: a set that lasts a millisecond takes 100 us") {
  TableBuilder t;
  const EventId call = t.call(t.thread(1), "cudaMemsetAsync", 0, 5);
  t.work(call, t.stream(7), 7, 1000, "Memset (Device)", EventKind::set);
  check_reacts(t.table(), "long_memsets", &Spans::replay);
}

}  // namespace
}  // namespace foretrace::trace
