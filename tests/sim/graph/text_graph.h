// Graphs as text for tests: graph("h:a(10) h:b(5,2) s:k(20)<a").
//
// Tokens stand in program order, separated by blanks:
//   h:a(10,3)     a task "a" on lane "h": duration 10, segment 3 (left out: 0), in ns
//   s[2]          a lane with a launch queue of depth 2; lanes exist from their first mention on
// The first letter of a lane says what it is: h or t host thread, s stream, c copy direction,
// n channel; "r1/s" is the stream "s" of rank 1. Everything is on device 0 of its rank.
// After a task, in any number:
//   =mark         its kind; left out: host (launch, if device work depends on it), kernel, copy,
//                 transfer by lane
//   <a  <^a       depends on the end (start) of task "a", which may stand later
//   <a+5  <a-5    with a lag; then  <^a*0.5  a fraction of a's duration;  <a+5?b  only if T[a] is
//                 later than the end of b (?^b: its start); last  <a:data  the kind; left out:
//                 launch, synchronization, event_wait or hand_over by the two lanes
//   ~s  ~*        waits for the last task of stream s (of every stream of the rank); then +5, ?b
//                 and :kind as above, and  ~s@a  as of the position of task a
// to_text() gives a graph back in the same syntax. What a task does is its name, unless the letters
// that its name begins with are those of a TextKind: named_graph("s:relu1(9)", {{"relu", ...}}).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/core/result.h"
#include "sim/graph/graph_builder.h"
#include "sim/graph/task_graph.h"

namespace foretrace::test {

/// The task with this name; fails the test if there is none.
inline TaskId task(const TaskGraph& graph, std::string_view name) {
  for (std::size_t t = 0; t < graph.size(); ++t) {
    if (graph.name(make_id<TaskId>(t)) == name) return make_id<TaskId>(t);
  }
  FAIL("no task '", std::string(name), "'");
  return none<TaskId>;
}

/// What tasks do whose names are these letters and a number.
struct TextKind {
  std::string_view letters = {};
  std::string_view name = {};  ///< of the kernel or call
  std::string_view operator_name = {};
  std::string_view shapes = {};
  Phase phase = Phase::unknown;
  std::string_view layer = {};  ///< "Parent/child"
};

/// A graph whose tasks have names of their own, whatever they do.
struct NamedGraph {
  TaskGraph graph;
  std::vector<std::string> names;  ///< per task
};

namespace text {

struct TextDependency {
  std::string_view source;
  std::string_view late_after;
  std::string_view position;
  std::string_view kind;
  bool wait = false;
  bool from_start = false;
  bool late_start = false;
  std::int64_t lag_ns = 0;
  float fraction = 0;
};

struct TextTask {
  std::string_view lane;
  std::string_view name;
  std::string_view kind;
  std::int64_t duration_ns = 0;
  std::int64_t segment_ns = 0;
  std::vector<TextDependency> dependencies;
};

class TextGraphParser {
 public:
  explicit TextGraphParser(std::string_view text, std::vector<TextKind> kinds = {})
      : text_(text), kinds_(std::move(kinds)) {}

  /// `names`, if given, gets the name of every task of the graph.
  Result<TaskGraph> build(std::vector<std::string>* names = nullptr) {
    while (skip_blanks()) token();
    for (const TextTask& t : tasks_) ids_.emplace(t.name, make_id<TaskId>(ids_.size()));
    for (const TextTask& t : tasks_) builder_.add_task(spec(t));
    for (const TextTask& t : tasks_) {
      for (const TextDependency& d : t.dependencies) add(t, d);
    }
    std::vector<TaskId> new_id;
    auto built = std::move(builder_).build(new_id);
    if (!built || names == nullptr) return built;
    names->resize(tasks_.size());
    for (std::size_t i = 0; i < tasks_.size(); ++i) (*names)[index(new_id[i])] = tasks_[i].name;
    return built;
  }

 private:
  bool skip_blanks() {
    while (!text_.empty() && text_.front() <= ' ') text_.remove_prefix(1);
    return !text_.empty();
  }
  bool accept(char wanted) {
    if (text_.empty() || text_.front() != wanted) return false;
    text_.remove_prefix(1);
    return true;
  }
  std::string_view word() {
    std::size_t size = 0;
    const auto in_word = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '_' || c == '/' || c == '.';
    };
    while (size < text_.size() && in_word(text_[size])) ++size;
    const std::string_view result = text_.substr(0, size);
    text_.remove_prefix(size);
    return result;
  }
  std::int64_t number() {
    const bool negative = accept('-');
    std::int64_t value = 0;
    while (!text_.empty() && text_.front() >= '0' && text_.front() <= '9') {
      value = 10 * value + (text_.front() - '0');
      text_.remove_prefix(1);
    }
    return negative ? -value : value;
  }

  void token() {
    TextTask t;
    t.lane = word();
    REQUIRE_MESSAGE(!t.lane.empty(), "text graph: expected a lane at '", std::string(text_), "'");
    const LaneId lane = lane_of(t.lane);
    if (accept('[')) {
      builder_.context().lanes[index(lane)].queue_depth = static_cast<std::uint32_t>(number());
      REQUIRE(accept(']'));
      return;
    }
    REQUIRE(accept(':'));
    t.name = word();
    REQUIRE(accept('('));
    t.duration_ns = number();
    if (accept(',')) t.segment_ns = number();
    REQUIRE(accept(')'));
    while (!text_.empty() && text_.front() > ' ') suffix(t);
    tasks_.push_back(std::move(t));
  }

  void suffix(TextTask& t) {
    if (accept('=')) {
      t.kind = word();
      return;
    }
    TextDependency d;
    d.wait = accept('~');
    REQUIRE_MESSAGE((d.wait || accept('<')), "text graph: unknown suffix '", std::string(text_),
                    "'");
    d.from_start = accept('^');
    if (accept('*')) {
      d.source = "*";
    } else {
      d.source = word();
    }
    if (accept('@')) d.position = word();
    if (accept('*')) d.fraction = std::stof(std::string(word()));
    if (accept('+') || (!text_.empty() && text_.front() == '-')) d.lag_ns = number();
    if (accept('?')) {
      d.late_start = accept('^');
      d.late_after = word();
    }
    if (accept(':')) d.kind = word();
    t.dependencies.push_back(d);
  }

  LaneId lane_of(std::string_view name) {
    const auto found = lanes_.find(name);
    if (found != lanes_.end()) return found->second;
    Lane lane;
    std::string_view plain = name;
    const std::size_t slash = name.find('/');
    if (slash != std::string_view::npos) {
      lane.rank = std::stoi(std::string(name.substr(1, slash - 1)));
      plain = name.substr(slash + 1);
    }
    switch (plain.front()) {
      case 'h':
      case 't': lane.kind = LaneKind::host_thread; break;
      case 's': lane.kind = LaneKind::stream; break;
      case 'c': lane.kind = LaneKind::copy_direction; break;
      case 'n': lane.kind = LaneKind::channel; break;
      default: FAIL("text graph: a lane begins with h, t, s, c or n, got ", std::string(name));
    }
    if (lane.kind != LaneKind::host_thread) lane.device = 0;
    lane.number = static_cast<std::int64_t>(lanes_.size());
    lane.name = std::string(name);
    const LaneId id = builder_.add_lane(std::move(lane));
    lanes_.emplace(name, id);
    return id;
  }

  LaneKind lane_kind(const TextTask& t) {
    return builder_.context().lanes[index(lane_of(t.lane))].kind;
  }
  const TextTask& named(std::string_view name) {
    const auto found = ids_.find(name);
    REQUIRE_MESSAGE(found != ids_.end(), "text graph: no task '", std::string(name), "'");
    return tasks_[index(found->second)];
  }
  Point point(std::string_view name, bool start) {
    if (name.empty()) return no_point;
    (void)named(name);
    return start ? start_of(ids_.at(name)) : end_of(ids_.at(name));
  }

  TaskKind kind_of(const TextTask& t) {
    for (std::size_t k = 0; k < task_kind_count; ++k) {
      if (!t.kind.empty() && to_string(static_cast<TaskKind>(k)) == t.kind) {
        return static_cast<TaskKind>(k);
      }
    }
    REQUIRE_MESSAGE(t.kind.empty(), "text graph: no task kind '", std::string(t.kind), "'");
    switch (lane_kind(t)) {
      case LaneKind::stream: return TaskKind::kernel;
      case LaneKind::copy_direction: return TaskKind::copy;
      case LaneKind::channel: return TaskKind::transfer;
      default: break;
    }
    for (const TextTask& other : tasks_) {
      for (const TextDependency& d : other.dependencies) {
        if (!d.wait && d.source == t.name && lane_kind(other) != LaneKind::host_thread) {
          return TaskKind::launch;
        }
      }
    }
    return TaskKind::host;
  }

  TaskSpec spec(const TextTask& t) {
    TaskSpec result;
    result.lane = lane_of(t.lane);
    result.kind = kind_of(t);
    result.duration_ns = t.duration_ns;
    result.segment_ns = t.segment_ns;
    Work work;
    work.name = builder_.add_name(t.name);
    if (const TextKind* kind = text_kind_of(t.name)) {
      work.name = builder_.add_name(kind->name);
      work.operator_name = builder_.add_name(kind->operator_name);
      work.shapes = builder_.add_name(kind->shapes);
      result.phase = kind->phase;
      if (!kind->layer.empty()) result.layer = layer_of(kind->layer);
    }
    work.kind = result.kind;
    result.work = builder_.add_work(work);
    return result;
  }

  const TextKind* text_kind_of(std::string_view name) const {
    while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
    for (const TextKind& kind : kinds_) {
      if (kind.letters == name) return &kind;
    }
    return nullptr;
  }
  LayerId layer_of(std::string_view path) {
    const auto found = layers_.find(path);
    if (found != layers_.end()) return found->second;
    const std::size_t slash = path.rfind('/');
    const bool nested = slash != std::string_view::npos;
    const LayerId parent = nested ? layer_of(path.substr(0, slash)) : none<LayerId>;
    return layers_.emplace(path, builder_.add_layer(path, parent)).first->second;
  }

  DependencyKind dependency_kind(const TextTask& t, const TextDependency& d) {
    for (std::size_t k = 0; k < dependency_kind_count; ++k) {
      if (!d.kind.empty() && to_string(static_cast<DependencyKind>(k)) == d.kind) {
        return static_cast<DependencyKind>(k);
      }
    }
    REQUIRE_MESSAGE(d.kind.empty(), "text graph: no kind '", std::string(d.kind), "'");
    const bool to_host = lane_kind(t) == LaneKind::host_thread;
    if (d.wait) return to_host ? DependencyKind::synchronization : DependencyKind::event_wait;
    const bool from_host = lane_kind(named(d.source)) == LaneKind::host_thread;
    if (from_host) return to_host ? DependencyKind::hand_over : DependencyKind::launch;
    return to_host ? DependencyKind::synchronization : DependencyKind::event_wait;
  }

  void add(const TextTask& t, const TextDependency& d) {
    const TaskId id = ids_.at(t.name);
    const Point late = point(d.late_after, d.late_start);
    const DependencyKind kind = dependency_kind(t, d);
    if (!d.wait) {
      builder_.add_dependency(
          {point(d.source, d.from_start), id, kind, d.lag_ns, d.fraction, late});
      return;
    }
    Wait wait;
    wait.task = id;
    wait.at = d.position.empty() ? id : task_of(point(d.position, true));
    wait.rank = builder_.context().lanes[index(lane_of(t.lane))].rank;
    if (d.source != "*") wait.lane = lane_of(d.source);
    wait.kind = kind;
    wait.lag_ns = d.lag_ns;
    wait.late_after = late;
    builder_.add_wait(wait);
  }

  std::string_view text_;
  std::vector<TextKind> kinds_;
  GraphBuilder builder_;
  std::map<std::string_view, LayerId> layers_;
  std::vector<TextTask> tasks_;
  std::map<std::string_view, TaskId> ids_;
  std::map<std::string_view, LaneId> lanes_;
};

}  // namespace text

/// What build() says to this text.
inline Result<TaskGraph> try_graph(std::string_view text) {
  return text::TextGraphParser(text).build();
}

/// The graph of this text; fails the test if it cannot be built.
inline TaskGraph graph(std::string_view text) {
  auto result = try_graph(text);
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  return std::move(result).value();
}

/// The same of tasks that are of these kinds.
inline NamedGraph named_graph(std::string_view text, std::vector<TextKind> kinds) {
  NamedGraph result;
  auto built = text::TextGraphParser(text, std::move(kinds)).build(&result.names);
  REQUIRE_MESSAGE(built.ok(), built.error().message);
  result.graph = std::move(built).value();
  return result;
}

/// The tasks in id order in the same syntax, without kinds; a resolved wait or queue is "~".
/// `name_of(task)` names them.
template <typename NameOf>
std::string to_text(const TaskGraph& graph, const NameOf& name_of) {
  std::string text;
  const auto point = [&](Point p) { return (is_end(p) ? "" : "^") + name_of(task_of(p)); };
  const auto lag = [](std::int64_t value) {
    return value == 0 ? "" : (value > 0 ? "+" : "") + std::to_string(value);
  };
  std::size_t row = 0;
  const Topology& topology = graph.topology();
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto t = make_id<TaskId>(i);
    text += (i == 0 ? "" : " ") + graph.lane(t).name + ":" + name_of(t) + "(" +
            std::to_string(graph.duration_ns(t));
    if (graph.segment_ns(t) != 0) text += "," + std::to_string(graph.segment_ns(t));
    text += ")";
    for (std::size_t slot = cause_slot; slot <= extra_slot; ++slot) {
      if (topology.sources[i][slot] == no_point) continue;
      text += (is_symbolic(topology.kinds[i][slot]) ? "~" : "<") +
              point(topology.sources[i][slot]) + lag((*graph.weights().lag_ns)[i][slot - 1]);
    }
    for (; row < topology.overflow.size() && topology.overflow[row].task == t; ++row) {
      const OverflowDependency& d = topology.overflow[row];
      text += (d.symbolic ? "~" : "<") + point(d.source);
      if (d.fraction != 0) text += "*" + std::to_string(d.fraction).substr(0, 4);
      text += lag((*graph.weights().overflow_lag_ns)[row]);
      if (d.late_after != no_point) text += "?" + point(d.late_after);
    }
  }
  return text;
}

inline std::string to_text(const TaskGraph& graph) {
  return to_text(graph, [&graph](TaskId task) { return std::string(graph.name(task)); });
}
inline std::string to_text(const NamedGraph& graph) {
  return to_text(graph.graph, [&graph](TaskId task) { return graph.names[index(task)]; });
}

/// The task with this name; fails the test if there is none.
inline TaskId task(const NamedGraph& graph, std::string_view name) {
  for (std::size_t t = 0; t < graph.names.size(); ++t) {
    if (graph.names[t] == name) return make_id<TaskId>(t);
  }
  FAIL("no task '", std::string(name), "'");
  return none<TaskId>;
}

}  // namespace foretrace::test
