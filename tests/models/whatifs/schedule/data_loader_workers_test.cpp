#include <string>

#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& data_loader_workers;
}

using foretrace::Bound;
using foretrace::ErrorCode;
using foretrace::ParamValues;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::duration_of;
using foretrace::test::Given;
using foretrace::test::span_ns;
using foretrace::test::ToyRun;
using foretrace::what_ifs::data_loader_workers;

namespace {

// Steps of `rest` ns of other host work, each after a batch that took `loading` ns.
foretrace::TaskGraph steps(
    int count, std::int64_t loading, std::int64_t rest,
    const char* label = "enumerate(DataLoader)#_SingleProcessDataLoaderIter") {
  ToyRun run;
  for (int i = 0; i < count; ++i) {
    const auto call = run.mark("step begin", loading);
    run.label(call, label, loading);
    run.host_task("work", foretrace::TaskKind::host, rest, 0);
  }
  return run.build();
}

const Given quick = {{"workers", "4"}, {"queue_get", "0 ns"}, {"host_contention", "1"}};

}  // namespace

TEST_CASE("data_loader_workers: a loader that keeps up disappears") {
  const auto graph = steps(10, 700, 1000);
  CHECK(span_ns(graph) == 10 * 1700);
  CHECK(span_ns(after(graph, data_loader_workers, quick)) == 10 * 1000);
}

TEST_CASE("data_loader_workers: too few workers are the limit, one batch every L/W") {
  const auto graph = steps(20, 4000, 500);
  // Four workers give a batch every 1000 ns; the first of the window is ready at its start.
  CHECK(span_ns(after(graph, data_loader_workers, quick)) == 19 * 1000 + 500);
}

TEST_CASE("data_loader_workers: one worker still overlaps with the step") {
  const auto graph = steps(20, 800, 1000);
  CHECK(span_ns(after(graph, data_loader_workers,
                      {{"workers", "1"}, {"queue_get", "0 ns"}, {"host_contention", "1"}})) ==
        20 * 1000);
}

TEST_CASE("data_loader_workers: taking a batch costs queue_get per step") {
  const auto graph = steps(10, 700, 1000);
  CHECK(span_ns(after(graph, data_loader_workers,
                      {{"queue_get", "50 ns"}, {"host_contention", "1"}})) == 10 * 1050);
}

TEST_CASE("data_loader_workers: contention stretches the rest of the host") {
  const auto graph = steps(10, 700, 1000);
  CHECK(span_ns(after(graph, data_loader_workers,
                      {{"queue_get", "0 ns"}, {"host_contention", "1.2"}})) == 10 * 1200);
}

TEST_CASE(
    "data_loader_workers: the declared range holds the point, from none of the contention on") {
  const auto graph = steps(10, 700, 1000000);
  const auto values = ParamValues::parse("x", data_loader_workers.params, Given{});
  REQUIRE(values.ok());
  const auto span_at = [&](Bound bound) {
    auto change = data_loader_workers.apply({graph, nullptr, foretrace::no_catalogue()},
                                            values->at_bound(bound));
    REQUIRE(change.ok());
    auto committed = foretrace::commit(graph, *change);
    REQUIRE(committed.ok());
    return span_ns(committed->graph);
  };
  CHECK(span_at(Bound::point) == 10 * (1050000 + 1000000));
  CHECK(span_at(Bound::optimistic) == 10 * (1000000 + 100000));
  CHECK(span_at(Bound::pessimistic) == 10 * (1200000 + 2400000));
}

TEST_CASE("data_loader_workers: uploads from pageable memory take longer, others do not") {
  ToyRun run;
  const auto call = run.mark("step begin", 1000);
  run.label(call, "enumerate(DataLoader)#_SingleProcessDataLoaderIter", 1000);
  for (const char* name : {"Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pinned -> Device)",
                           "Memcpy DtoH (Device -> Pageable)"}) {
    run.kernel({.name = name, .duration_ns = 1000, .kind = foretrace::TaskKind::copy});
  }
  const auto graph = run.build();
  const auto changed = after(graph, data_loader_workers, quick);
  CHECK(duration_of(changed, "Memcpy HtoD (Pageable -> Device)") == 1590);
  CHECK(duration_of(changed, "Memcpy HtoD (Pinned -> Device)") == 1000);
  CHECK(duration_of(changed, "Memcpy DtoH (Device -> Pageable)") == 1000);
  Given same = quick;
  same.emplace_back("upload_slowdown", "1");
  CHECK(duration_of(after(graph, data_loader_workers, same), "Memcpy HtoD (Pageable -> Device)") ==
        1000);
}

TEST_CASE("data_loader_workers: declines without a loader in the main process") {
  for (const char* label :
       {"aten::conv2d", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter"}) {
    const auto declined = apply_to(steps(3, 700, 1000, label), data_loader_workers);
    REQUIRE_FALSE(declined.ok());
    CHECK(declined.error().code == ErrorCode::no_match);
  }
  CHECK(apply_to(steps(3, 700, 1000, "my_loader"), data_loader_workers, {{"loader", "my_"}}).ok());
}
