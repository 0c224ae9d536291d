#include <cmath>

#include "models/hardware/costs/rates.h"
#include "tests/models/text_run.h"
#include "tests/models/training_job.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& sparse_aggregation;
}

using foretrace::CollectiveKind;
using foretrace::ErrorCode;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::duration_of;
using foretrace::test::Given;
using foretrace::test::span_ns;
using foretrace::test::toy_accelerator;
using foretrace::test::ToyRun;
using foretrace::test::training_job;
using foretrace::test::TrainingJob;
using foretrace::what_ifs::sparse_aggregation;

namespace {

constexpr std::int64_t us = 1'000;
constexpr const char* reduce = "ncclDevKernel_AllReduce";

// Forward 4 ms, backward 6 ms, an all-reduce of 80 MB in 3020 us among `ranks` behind it, update.
foretrace::TaskGraph job(std::int32_t ranks, bool met = true) {
  return training_job({.ranks = ranks,
                       .reduces = {{.bytes = 80'000'000, .ns = 3020 * us, .after = 6}},
                       .met = met});
}

Given with(Given given) {
  given.emplace_back("index_bytes", "0 B");
  return given;
}

}  // namespace

TEST_CASE("sparse_aggregation: a dense gradient gains what a ring sends beyond the buffer") {
  const auto a100 = toy_accelerator();
  // 20 us stay; of 3000 us the ring of four took 2 x 3 / 4 buffers, switches take one.
  for (const bool met : {true, false}) {
    for (const char* method : {"switch", "servers"}) {
      const auto changed = after(job(4, met), sparse_aggregation,
                                 with({{"density", "1"}, {"method", method}}), &a100);
      const char* const task = reduce;
      std::int64_t longest = 0;
      for (std::size_t t = 0; t < changed.size(); ++t) {
        const auto id = foretrace::make_id<foretrace::TaskId>(t);
        if (changed.name(id) == task) longest = std::max(longest, changed.duration_ns(id));
      }
      CHECK(longest == 2020 * us);
    }
  }
}

TEST_CASE(
    "sparse_aggregation: workers get the union of their blocks, from servers as few as said") {
  const auto a100 = toy_accelerator();
  const auto reduce_ns = [&](Given given) {
    given.emplace_back("density", "0.1");
    return duration_of(after(job(4, false), sparse_aggregation, with(given), &a100), reduce);
  };
  const double all = 1 - std::pow(0.9, 4);
  const auto expected = [](double load) { return std::llround(20e3 + 3000e3 * load / 1.5); };
  CHECK(reduce_ns({}) == expected(all));
  CHECK(reduce_ns({{"overlap", "1"}}) == expected(0.1));
  CHECK(reduce_ns({{"servers", "2"}}) == expected(2 * all));
  CHECK(reduce_ns({{"method", "switch"}, {"servers", "2"}}) == expected(all));
  CHECK(reduce_ns({{"method", "all_gather"}}) == expected(3 * 0.1));
}

TEST_CASE("sparse_aggregation: blocks are found behind the maker, added up only after a gather") {
  const auto a100 = toy_accelerator();
  const auto graph = job(4);
  const auto servers = after(graph, sparse_aggregation, {{"density", "0.1"}}, &a100);
  CHECK(count_of(servers, "find blocks of gradients") == 4);
  CHECK(count_of(servers, "add blocks of gradients") == 0);
  const double rate = a100.memory_bandwidth * bandwidth_share(foretrace::KernelClass::elementwise);
  const auto search = static_cast<double>(duration_of(servers, "find blocks of gradients"));
  CHECK(search == doctest::Approx(80e6 / rate * 1e9).epsilon(0.05));
  // It delays the sum, and the sum the update.
  const double sum = 20e3 + 3000e3 * (1 - std::pow(0.9, 4)) * (1 + 4. / 1024) / 1.5;
  CHECK(static_cast<double>(span_ns(servers)) ==
        doctest::Approx(4e6 + 6e6 + search + sum + 1e6).epsilon(1e-3));
  const auto gathered =
      after(graph, sparse_aggregation, {{"density", "0.1"}, {"method", "all_gather"}}, &a100);
  CHECK(count_of(gathered, "add blocks of gradients") == 4);
  // Three workers' blocks: read, and added to what is read and written.
  CHECK(static_cast<double>(duration_of(gathered, "add blocks of gradients")) ==
        doctest::Approx(3 * 3 * 0.1 * 80e6 / rate * 1e9).epsilon(0.1));
}

TEST_CASE("sparse_aggregation: the note compares who could add up") {
  const auto a100 = toy_accelerator();
  const auto change =
      apply_to(job(4), sparse_aggregation, with({{"density", "0.1"}, {"overlap", "1"}}), &a100);
  REQUIRE(change.ok());
  // Four ranks of 80 MB: a ring carries 1.5 of them, switches a tenth, a gather three tenths.
  CHECK(change->notes[0] ==
        "4 all-reduces of gradients 12.08 ms -> 0.88 ms; 0.1 of the blocks come back; the fullest "
        "link of 320.0 MB of gradients carries 32.0 MB with servers: a ring 480.0, servers 32.0, "
        "switches 32.0, an all-gather 96.0; 4 searches for blocks, " +
            change->notes[0].substr(change->notes[0].find("blocks, ") + 8));
}

TEST_CASE("sparse_aggregation: other streams keep what they wait for") {
  const auto a100 = toy_accelerator();
  const TrainingJob within{.ranks = 2,
                           .reduces = {{.bytes = 40'000'000, .ns = 2020 * us, .after = 2},
                                       {.bytes = 40'000'000, .ns = 2020 * us, .after = 6}},
                           .updates_within = {4}};
  const auto graph = training_job(within);
  const auto change = apply_to(graph, sparse_aggregation, {{"density", "0.05"}}, &a100);
  REQUIRE_MESSAGE(change.ok(), change.error().message);
  auto committed = foretrace::commit(graph, *change, foretrace::Checks::none);
  REQUIRE_MESSAGE(committed.ok(), committed.error().message);
  const foretrace::test::LawOracle oracle(graph, *change, *committed);
  CHECK(oracle.broken_path() == "");
  CHECK(oracle.broken_time() == "");
  const auto laws = foretrace::check_laws(graph, *change, *committed);
  CHECK_MESSAGE(laws.ok(), laws.error().message);
  CHECK(count_of(committed->graph, "find blocks of gradients") == 4);
}

TEST_CASE("sparse_aggregation: declines without all-reduces of gradients, sizes or groups") {
  const auto a100 = toy_accelerator();
  const Given given = {{"density", "0.1"}};
  ToyRun alone;
  alone.kernel({.name = "gemm", .duration_ns = 100});
  const auto none = apply_to(alone.build(), sparse_aggregation, given, &a100);
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().code == ErrorCode::no_match);
  const auto scattered =
      apply_to(training_job({.reduces = {{.bytes = 80'000'000,
                                          .ns = 3'000'000,
                                          .after = 6,
                                          .kind = CollectiveKind::reduce_scatter}}}),
               sparse_aggregation, given, &a100);
  REQUIRE_FALSE(scattered.ok());
  CHECK(scattered.error().message.find("reduce-scattered") != std::string::npos);
  const auto unknown = training_job({.reduces = {{.bytes = -1, .ns = 3'020'000, .after = 6}}});
  const auto sizes = apply_to(unknown, sparse_aggregation, given, &a100);
  REQUIRE_FALSE(sizes.ok());
  CHECK(sizes.error().code == ErrorCode::missing_cost);
  // Of two ranks a link carries as much as the buffer: 3.02 ms at 10 GB/s.
  Given linked = given;
  linked.emplace_back("link_bandwidth", "10 GB/s");
  const auto known = apply_to(unknown, sparse_aggregation, linked, &a100);
  REQUIRE_MESSAGE(known.ok(), known.error().message);
  CHECK(known->notes[0].find("of 60.4 MB of gradients") != std::string::npos);
}

TEST_CASE("sparse_aggregation: a block has a whole number of numbers") {
  const auto values =
      foretrace::ParamValues::parse(sparse_aggregation.name, sparse_aggregation.params,
                                    Given{{"density", "0.1"}, {"block", "1.5"}});
  REQUIRE_FALSE(values.ok());
  CHECK(values.error().message.find("1.5") != std::string::npos);
}

TEST_CASE("sparse_aggregation: without a density nothing is assumed") {
  const auto values =
      foretrace::ParamValues::parse(sparse_aggregation.name, sparse_aggregation.params, Given{});
  REQUIRE_FALSE(values.ok());
  CHECK(values.error().message.find("density") != std::string::npos);
}
