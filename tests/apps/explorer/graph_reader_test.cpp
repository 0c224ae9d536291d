#include "apps/explorer/engine/graph_reader.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/pull/pull.h"
#include "tests/sim/graph/random_change.h"

namespace foretrace::explorer {
namespace {

constexpr std::uint64_t seeds = 300;

/// What a page has beside the columns.
GraphContext beside(const TaskGraph& graph) {
  GraphContext context;
  context.works = graph.context().works;
  context.lanes = graph.context().lanes;
  context.steps = graph.context().steps;
  return context;
}

void check_topology(const TaskGraph& got, const TaskGraph& want) {
  CHECK(got.topology().sources == want.topology().sources);
  std::size_t other_kinds = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    for (const Slot slot : {cause_slot, extra_slot}) {
      other_kinds +=
          kind_of(got.topology().kinds[i][slot]) != kind_of(want.topology().kinds[i][slot]) ? 1 : 0;
    }
  }
  CHECK(other_kinds == 0);
  REQUIRE(got.topology().overflow.size() == want.topology().overflow.size());
  for (std::size_t i = 0; i < want.topology().overflow.size(); ++i) {
    const OverflowDependency& row = got.topology().overflow[i];
    const OverflowDependency& other = want.topology().overflow[i];
    CHECK(row.task == other.task);
    CHECK(row.source == other.source);
    CHECK(row.late_after == other.late_after);
    CHECK(row.fraction == other.fraction);
    CHECK(row.kind == other.kind);
  }
}

void check_columns(const TaskGraph& got, const TaskGraph& want) {
  CHECK(got.columns().lane == want.columns().lane);
  CHECK(got.columns().work == want.columns().work);
  CHECK(got.columns().kind == want.columns().kind);
  CHECK(got.columns().phase == want.columns().phase);
  CHECK(got.columns().layer == want.columns().layer);
  CHECK(got.columns().step == want.columns().step);
  CHECK(got.columns().provenance == want.columns().provenance);
  CHECK(*got.weights().duration_ns == *want.weights().duration_ns);
  CHECK(*got.weights().segment_ns == *want.weights().segment_ns);
  CHECK(*got.weights().lag_ns == *want.weights().lag_ns);
  CHECK(*got.weights().overflow_lag_ns == *want.weights().overflow_lag_ns);
}

void check_tensors(const TaskGraph& got, const TaskGraph& want) {
  const std::vector<Tensor>& tensors = got.context().tensors;
  REQUIRE(tensors.size() == want.context().tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& other = want.context().tensors[i];
    CHECK(tensors[i].bytes == other.bytes);
    CHECK(tensors[i].category == other.category);
    CHECK(tensors[i].device == other.device);
    CHECK(got.rank_of(tensors[i]) == want.rank_of(other));
    CHECK(tensors[i].allocated_in == other.allocated_in);
    CHECK(tensors[i].freed_in == other.freed_in);
    CHECK(tensors[i].allocated_offset_ns == other.allocated_offset_ns);
    CHECK(tensors[i].freed_offset_ns == other.freed_offset_ns);
    CHECK(tensors[i].allocated_sequence == other.allocated_sequence);
    CHECK(tensors[i].freed_sequence == other.freed_sequence);
  }
}

void check_equal(const TaskGraph& got, const TaskGraph& want) {
  REQUIRE(got.size() == want.size());
  check_topology(got, want);
  check_columns(got, want);
  check_tensors(got, want);
}

/// The task that each task of a committed graph was.
std::vector<TaskId> origin_of(const Committed& committed, std::size_t size_before) {
  if (committed.new_id.empty()) return {};
  std::vector<TaskId> origin(committed.graph.size(), none<TaskId>);
  for (std::size_t i = 0; i < size_before; ++i) {
    if (committed.new_id[i] != none<TaskId>)
      origin[index(committed.new_id[i])] = make_id<TaskId>(i);
  }
  return origin;
}

/// A page knows what a task is by its work. Edits that make no sense may part them.
bool kinds_are_those_of_works(const TaskGraph& graph) {
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (graph.kind(task) != graph.work(task).kind) return false;
  }
  return true;
}

TEST_CASE("graph reader: reads every graph as it was written") {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    CAPTURE(seed);
    test::Choices choices(seed);
    const TaskGraph graph = test::random_graph(choices);
    const Result<HeldColumns> read = read_graph(pack_graph(graph), beside(graph));
    REQUIRE(read.ok());
    check_equal(read->graph, graph);
    const std::vector<SegmentPart>& parts = read->graph.context().segment_parts;
    REQUIRE(parts.size() == graph.context().segment_parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      CHECK(parts[i].task == graph.context().segment_parts[i].task);
      CHECK(parts[i].label == graph.context().segment_parts[i].label);
      CHECK(parts[i].duration_ns == graph.context().segment_parts[i].duration_ns);
    }
  }
}

TEST_CASE("graph reader: reads what any change made of a graph, from what it read of that") {
  std::size_t structural = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    CAPTURE(seed);
    test::Choices choices(seed);
    const TaskGraph graph = test::random_graph(choices);
    const auto edits = seed % 2 == 0 ? test::RandomEdits::lawful : test::RandomEdits::all;
    const Result<Change> change = test::RandomChange(choices, graph, edits).make();
    if (!change.ok()) continue;
    const Result<Committed> committed = commit(graph, *change);
    if (!committed.ok()) continue;
    const bool are_kinds_known = kinds_are_those_of_works(committed->graph);
    if (edits == test::RandomEdits::lawful) CHECK(are_kinds_known);
    if (!are_kinds_known) continue;
    const std::vector<TaskId> origin = origin_of(*committed, graph.size());
    structural += origin.empty() ? 0 : 1;
    const TaskGraph base = read_graph(pack_graph(graph), beside(graph))->graph;
    const Result<HeldColumns> read =
        read_variant(pack_variant(committed->graph, graph, origin), base, beside(committed->graph));
    REQUIRE(read.ok());
    check_equal(read->graph, committed->graph);
    if (!origin.empty()) CHECK(read->origin == origin);
  }
  CHECK(structural > seeds / 10);
}

TEST_CASE("graph reader: what a change leaves alone is shared") {
  test::Choices choices(std::uint64_t{1});
  const TaskGraph graph = test::random_graph(choices);
  const TaskGraph base = read_graph(pack_graph(graph), beside(graph))->graph;
  Weights weights = graph.weights();
  auto durations = std::make_shared<std::vector<std::int64_t>>(*weights.duration_ns);
  for (std::int64_t& duration : *durations) duration *= 3;
  weights.duration_ns = std::move(durations);
  const TaskGraph slower = graph.with_weights(std::move(weights));
  const Result<HeldColumns> read =
      // NOLINTNEXTLINE(readability-suspicious-call-argument): the variant is of `graph`
      read_variant(pack_variant(slower, graph, {}), base, beside(graph));
  REQUIRE(read.ok());
  check_equal(read->graph, slower);
  CHECK(read->graph.shared_topology() == base.shared_topology());
  CHECK(read->graph.shared_columns() == base.shared_columns());
  CHECK(read->graph.weights().segment_ns == base.weights().segment_ns);
}

TEST_CASE("graph reader: damaged blocks are refused, or give a graph that can be simulated") {
  std::size_t refused = 0;
  for (std::uint64_t seed = 0; seed < 10 * seeds; ++seed) {
    CAPTURE(seed);
    test::Choices choices(seed);
    const TaskGraph graph = test::random_graph(choices, {.operations = 10});
    PackedGraph packed = pack_graph(graph);
    const auto below = [&](std::size_t limit) {
      return choices.below(static_cast<std::uint32_t>(limit));
    };
    for (std::uint32_t i = 0; i <= choices.below(3) && !packed.bytes.empty(); ++i) {
      packed.bytes[below(packed.bytes.size())] = static_cast<char>(choices.below(256));
    }
    PackedColumn& column = packed.columns[below(packed.columns.size())];
    if (choices.one_in(4)) column.offset = below(2 * packed.bytes.size() + 1);
    if (choices.one_in(4)) column.bytes = below(2 * packed.bytes.size() + 1);
    if (choices.one_in(4)) column.count += choices.below(3);
    if (choices.one_in(8)) column.count = static_cast<std::size_t>(-1);
    if (choices.one_in(4)) packed.bytes.resize(below(packed.bytes.size() + 1));
    if (choices.one_in(8)) packed.columns.pop_back();
    const Result<HeldColumns> read = read_graph(packed, beside(graph));
    refused += read.ok() ? 0 : 1;
    if (read.ok()) CHECK(simulate(read->graph).size() == read->graph.size());
  }
  CHECK(refused > seeds);
}

}  // namespace
}  // namespace foretrace::explorer
