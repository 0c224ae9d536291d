#include "sim/result/export/graph_columns.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/sim/graph/text_graph.h"

namespace foretrace {
namespace {

using Figures = std::vector<std::int64_t>;

/// A column as the page reads it.
Figures read(const PackedGraph& packed, const std::string& name) {
  for (const PackedColumn& column : packed.columns) {
    if (column.name != name) continue;
    std::size_t at = column.offset;
    const auto number = [&] {
      std::uint64_t value = 0;
      for (unsigned shift = 0;; shift += 7) {
        const auto byte = static_cast<std::uint8_t>(packed.bytes.at(at++));
        value |= std::uint64_t{byte & 127U} << shift;
        if (byte < 128) return value;
      }
    };
    Figures figures;
    while (figures.size() < column.count) {
      const std::uint64_t value = number();
      if (value == 0) {
        figures.resize(figures.size() + 1 + number());
      } else {
        const auto half = static_cast<std::int64_t>(value >> 1U);
        figures.push_back((value % 2 == 1 ? -half - 1 : half) * column.unit);
      }
    }
    CHECK(figures.size() == column.count);
    CHECK(at == column.offset + column.bytes);
    return figures;
  }
  FAIL("no column ", name);
  return {};
}

std::vector<std::string> names_of(const PackedGraph& packed) {
  std::vector<std::string> names;
  for (const PackedColumn& column : packed.columns) names.push_back(column.name);
  return names;
}

/// Kernels one after the other, each launched.
TaskGraph launches(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    text += "h:l" + n + "(5,3) s:k" + n + "(20)<l" + n + "+2 ";
  }
  return test::graph(text);
}

TEST_CASE("graph columns: figures, a unit that they share, and how many zeros follow a zero") {
  const TaskGraph graph = test::graph("h:a(0) h:b(0) h:c(200) h:d(300) h:e(0)");
  const PackedGraph packed = pack_graph(graph);
  CHECK(read(packed, "duration") == Figures{0, 0, 200, 300, 0});
  for (const PackedColumn& column : packed.columns) {
    if (column.name != "duration") continue;
    CHECK(column.unit == 100);
    // two zeros, 2, 3, one zero
    CHECK(packed.bytes.substr(column.offset, column.bytes) == std::string("\0\1\4\6\0\0", 6));
  }
}

TEST_CASE("graph columns: what a change leaves alone takes no room, however long the recording") {
  const auto size_of_one_change = [](int count) {
    const TaskGraph base = launches(count);
    Weights weights = base.weights();
    auto durations = std::make_shared<std::vector<std::int64_t>>(*weights.duration_ns);
    (*durations)[1] = 7;
    weights.duration_ns = std::move(durations);
    const PackedGraph packed = pack_variant(base.with_weights(std::move(weights)), base, {});
    CHECK(read(packed, "duration")[1] == 7 - 20);
    CHECK(names_of(packed) == std::vector<std::string>{"duration"});
    return packed.bytes.size();
  };
  // A count of zeros has one more byte in each of the columns of tasks.
  CHECK(size_of_one_change(2000) <= size_of_one_change(50) + 40);
}

TEST_CASE("graph columns: tasks that went and came are stored by where the others were") {
  const TaskGraph base = test::graph("h:a(1) h:b(2) h:c(3) h:d(4)");
  const TaskGraph changed = test::graph("h:a(1) h:x(9) h:c(3) h:d(5)");
  const std::vector<TaskId> origin = {TaskId{0}, none<TaskId>, TaskId{2}, TaskId{3}};
  const PackedGraph packed = pack_variant(changed, base, origin);
  CHECK(read(packed, "origin") == Figures{0, 1, 2, 0});
  CHECK(read(packed, "duration") == Figures{0, 9, 0, 1});
  // x waits for a, two points back; c waits for x, which is nobody of the base; d as before
  CHECK(read(packed, "lane_source") == Figures{0, 2, 2, 0});
  // who waits for whom is another graph's: all of it is there
  CHECK(read(packed, "cause_lag") == Figures(4, 0));
  CHECK(read(packed, "overflow_task").empty());
  CHECK(read(packed, "tensor_bytes").empty());
}

TEST_CASE("graph columns: other sources of the same tasks are stored, though no task moved") {
  const TaskGraph base = test::graph("h:a(1) h:b(2) s:k(7)<a+2");
  const TaskGraph changed = test::graph("h:a(1) h:b(2) s:k(7)<b+2");
  const PackedGraph packed = pack_variant(changed, base, {});
  CHECK(read(packed, "origin") == Figures{0, 0, 0});
  CHECK(read(packed, "cause_source") == Figures{0, 0, -2});
}

TEST_CASE("graph columns: a tensor of another size brings all columns of tensors") {
  const TaskGraph base = test::graph("h:a(1) h:b(2)");
  const auto with_tensor = [&](std::int64_t bytes) {
    GraphContext context = base.context();
    context.tensors.resize(2);
    context.tensors[0] = {.bytes = bytes, .allocated_in = TaskId{1}};
    context.tensors[1] = {.bytes = 5};
    return TaskGraph(base.shared_topology(), base.shared_columns(),
                     std::make_shared<const GraphContext>(std::move(context)), base.weights());
  };
  const PackedGraph packed = pack_variant(with_tensor(300), with_tensor(100), {});
  CHECK(packed.columns.size() == 10);
  CHECK(read(packed, "tensor_bytes") == Figures{200, 0});
  CHECK(read(packed, "tensor_allocated") == Figures{0, 0});
  CHECK(pack_variant(with_tensor(300), with_tensor(300), {}).columns.empty());
  // one that is new, without a task: as far from none as what the base does not have
  const PackedGraph more = pack_variant(with_tensor(300), base, {});
  CHECK(read(more, "tensor_bytes") == Figures{300, 5});
  CHECK(read(more, "tensor_allocated") == Figures{2, 0});
}

}  // namespace
}  // namespace foretrace
