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
    CHECK(read(packed, "cause_source") == Figures(base.size(), 0));
    return packed.bytes.size();
  };
  // A count of zeros has one more byte in each of the columns of tasks.
  CHECK(size_of_one_change(2000) <= size_of_one_change(50) + 40);
}

}  // namespace
}  // namespace foretrace
