// Evaluates a selection: one table per predicate over the distinct values, then one pass.
#include <string>
#include <utility>

#include <fmt/format.h>

#include "sim/core/result.h"
#include "sim/edit/selection.h"
#include "sim/edit/text_pattern.h"

namespace foretrace {

namespace {

using Key = Selection::Key;

/// Answers one predicate for texts and numbers; numbers match expressions by their decimal text.
class Matcher {
 public:
  explicit Matcher(const Selection::Predicate& predicate) : predicate_(predicate) {
    if (!predicate.expression) return;
    auto compiled = selecting::TextPattern::compile(predicate.value);
    FORETRACE_CHECK(compiled.ok());  // parse() compiled it once
    pattern_ = std::move(compiled).value();
  }
  [[nodiscard]] bool matches(std::string_view text) const {
    const bool found = predicate_.expression ? pattern_.found_in(text)
                                             : text == std::string_view(predicate_.value);
    return found != predicate_.negated;
  }
  [[nodiscard]] bool matches(std::int64_t number) const {
    if (predicate_.expression) return matches(std::string_view(fmt::format_int(number).c_str()));
    return (std::stoll(predicate_.value) == number) != predicate_.negated;
  }
  /// For a task that has no such property.
  [[nodiscard]] bool matches_nothing() const { return predicate_.negated; }

 private:
  const Selection::Predicate& predicate_;
  selecting::TextPattern pattern_;
};

/// One answer per distinct value, and the column that names the value of a task.
struct Table {
  std::vector<bool> answers;
  enum class Column : std::uint8_t { kind, phase, lane, layer, step, work } column{};
};

Table kind_table(const Matcher& matcher, bool resource) {
  Table table{{}, Table::Column::kind};
  for (std::size_t i = 0; i < task_kind_count; ++i) {
    const auto kind = static_cast<TaskKind>(i);
    if (!resource) {
      table.answers.push_back(matcher.matches(to_string(kind)));
    } else if (is_host(kind) || is_device(kind)) {
      table.answers.push_back(matcher.matches(is_host(kind) ? "host" : "device"));
    } else {
      table.answers.push_back(matcher.matches_nothing());
    }
  }
  return table;
}

Table lane_table(const Matcher& matcher, const TaskGraph& graph, Key key) {
  Table table{{}, Table::Column::lane};
  for (const Lane& lane : graph.context().lanes) {
    if (key == Key::rank) {
      table.answers.push_back(matcher.matches(lane.rank));
    } else if (lane.device == no_device || (key == Key::stream && lane.kind != LaneKind::stream)) {
      table.answers.push_back(matcher.matches_nothing());
    } else {
      table.answers.push_back(matcher.matches(key == Key::device ? lane.device : lane.number));
    }
  }
  return table;
}

/// Works that share a name share its answer.
Table work_table(const Matcher& matcher, const TaskGraph& graph, Key key) {
  Table table{{}, Table::Column::work};
  enum class Answer : std::uint8_t { unknown, no, yes };
  std::vector<Answer> by_name(graph.names().size(), Answer::unknown);
  for (const Work& work : graph.context().works) {
    const NameId name = key == Key::name ? work.name : work.operator_name;
    Answer& answer = by_name[index(name)];
    if (answer == Answer::unknown) {
      const bool matches =
          name == NameId{} ? matcher.matches_nothing() : matcher.matches(graph.names()[name]);
      answer = matches ? Answer::yes : Answer::no;
    }
    table.answers.push_back(answer == Answer::yes);
  }
  return table;
}

Table table_of(const Selection::Predicate& predicate, const TaskGraph& graph) {
  const Matcher matcher(predicate);
  switch (predicate.key) {
    case Key::kind: return kind_table(matcher, false);
    case Key::resource: return kind_table(matcher, true);
    case Key::name:
    case Key::operator_name: return work_table(matcher, graph, predicate.key);
    case Key::rank:
    case Key::device:
    case Key::stream: return lane_table(matcher, graph, predicate.key);
    case Key::layer: {
      Table table{{}, Table::Column::layer};
      for (const Layer& layer : graph.context().layers) {
        table.answers.push_back(layer.name == NameId{}
                                    ? matcher.matches_nothing()
                                    : matcher.matches(graph.names()[layer.name]));
      }
      return table;
    }
    case Key::phase: {
      Table table{{}, Table::Column::phase};
      for (std::size_t i = 0; i < phase_count; ++i) {
        table.answers.push_back(matcher.matches(to_string(static_cast<Phase>(i))));
      }
      return table;
    }
    case Key::step: {
      // Row 0 is for tasks outside every step.
      Table table{{matcher.matches_nothing()}, Table::Column::step};
      for (const Step& step : graph.context().steps) {
        table.answers.push_back(matcher.matches(step.number));
      }
      return table;
    }
  }
  return {};
}

template <typename T, typename Row>
void narrow(std::vector<bool>& selected, const std::vector<bool>& answers,
            const std::vector<T>& column, const Row& row) {
  for (std::size_t t = 0; t < column.size(); ++t) {
    if (selected[t] && !answers[row(column[t])]) selected[t] = false;
  }
}

void narrow(std::vector<bool>& selected, const Table& table, const TaskColumns& columns) {
  const auto by_id = [](auto value) { return static_cast<std::size_t>(value); };
  switch (table.column) {
    case Table::Column::kind: return narrow(selected, table.answers, columns.kind, by_id);
    case Table::Column::phase: return narrow(selected, table.answers, columns.phase, by_id);
    case Table::Column::lane: return narrow(selected, table.answers, columns.lane, by_id);
    case Table::Column::layer: return narrow(selected, table.answers, columns.layer, by_id);
    case Table::Column::work: return narrow(selected, table.answers, columns.work, by_id);
    case Table::Column::step:
      return narrow(selected, table.answers, columns.step,
                    [](std::int32_t step) { return static_cast<std::size_t>(step) + 1; });
  }
}

}  // namespace

std::vector<TaskId> Selection::of(const TaskGraph& graph) const {
  std::vector<bool> selected(graph.size(), true);
  for (const Predicate& predicate : predicates_) {
    narrow(selected, table_of(predicate, graph), graph.columns());
  }
  std::vector<TaskId> tasks;
  for (std::size_t t = 0; t < graph.size(); ++t) {
    if (selected[t]) tasks.push_back(make_id<TaskId>(t));
  }
  return tasks;
}

}  // namespace foretrace
