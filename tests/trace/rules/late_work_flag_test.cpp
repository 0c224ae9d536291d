// What is named as the reason where device work starts late.
#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "tests/trace/rules/table_builder.h"
#include "trace/assemble/build_graph.h"

namespace foretrace::trace {
namespace {

/// Two kernels on stream 7; the second starts 400 us after its launch, for no recorded reason.
/// `streams` of them; `with_wait`: an event is recorded and waited for, long before.
std::vector<std::string> flags_of(int streams, bool with_wait) {
  TableBuilder t;
  const TrackId host = t.thread(1);
  t.work(t.call(host, "cudaLaunchKernel", 0, 5), t.stream(7), 7, 20);
  if (streams > 1) {
    t.work(t.call(host, "cudaLaunchKernel", 10, 5), t.stream(8), 17, 5);
  }
  if (with_wait) {
    t.call(host, "cudaEventRecord", 20, 2);
    t.call(host, "cudaStreamWaitEvent", 24, 2);
  }
  t.work(t.call(host, "cudaLaunchKernel", 100, 5), t.stream(7), 507, 20);
  const Result<BuiltGraph> built = build_graph(t.table());
  REQUIRE_MESSAGE(built.ok(), built.error().message);
  return built->honesty.flags;
}

bool has(const std::vector<std::string>& flags, const std::string& flag) {
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

}  // namespace

TEST_CASE("late device work: of several streams without any recorded wait, records are missing") {
  CHECK(has(flags_of(2, false), "missing records"));
  CHECK_FALSE(has(flags_of(2, false), "shared device"));
}

TEST_CASE("late device work: where waits were recorded, another program may hold the device") {
  CHECK(has(flags_of(2, true), "shared device"));
  CHECK(has(flags_of(1, false), "shared device"));  // one stream waits for nobody
}

}  // namespace foretrace::trace
