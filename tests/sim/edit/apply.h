// For tests of primitives: commits a change, validates the result and shows it as text.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/graph/change.h"
#include "sim/graph/validate.h"
#include "tests/sim/graph/text_graph.h"

namespace foretrace::test {

/// What commit() makes of a change; fails the test on an error or a graph that is not valid.
inline Committed committed(const TaskGraph& before, const Change& change) {
  auto result = commit(before, change);
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  const Status valid = validate(result->graph);
  REQUIRE_MESSAGE(valid.ok(), valid.error().message);
  return std::move(result).value();
}

/// The graph after a change, as to_text() shows it.
inline std::string after(const TaskGraph& before, const Change& change) {
  return to_text(committed(before, change).graph);
}

inline std::vector<TaskId> tasks(const TaskGraph& graph, std::initializer_list<const char*> names) {
  std::vector<TaskId> result;
  for (const char* name : names) result.push_back(task(graph, name));
  return result;
}

}  // namespace foretrace::test
