// Lays out a step program: what is a node, what is a member of a chain, and where times are.
#include <algorithm>
#include <atomic>

#include "sim/engine/chains/step_program.h"

namespace foretrace {
namespace {

std::uint64_t next_program_number() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

}  // namespace

class StepProgramBuilder {
 public:
  explicit StepProgramBuilder(const TaskGraph& graph)
      : graph_(graph), topology_(graph.topology()), place_(graph.size()) {}

  std::optional<StepProgram> build() {
    if (!is_known_kind() || !find_streams()) return std::nullopt;
    program_.number_ = next_program_number();
    find_nodes();
    order_nodes();
    number_members();
    lay_out_nodes();
    lay_out_further();
    lay_out_streams();
    for (const Step& step : graph_.context().steps) {
      program_.steps_.push_back(
          {time_at(start_of(step.begin)), time_at(start_of(step.end)), step.number});
    }
    for (const Chain& chain : chains_) {
      program_.chain_ends_.push_back(time_at(end_of(make_id<TaskId>(chain.tasks.back()))));
    }
    if (program_.is_one_stream_) group_operations();
    return std::move(program_);
  }

 private:
  /// Where a task is: its number among nodes, or its chain.
  struct Place {
    bool is_node = false;
    std::uint32_t number = 0;  ///< of the node, or of the chain
    std::uint32_t member = 0;  ///< its place in the chain, later that among all members
  };
  struct Chain {
    std::uint32_t head = 0;  ///< the task that it follows: a node
    std::vector<std::uint32_t> tasks;
  };

  [[nodiscard]] bool is_known_kind() const {
    const auto& context = graph_.context();
    const std::int32_t rank = context.steps.empty() ? 0 : context.steps.front().rank;
    const auto& durations = *graph_.weights().duration_ns;
    return std::all_of(context.lanes.begin(), context.lanes.end(),
                       [&](const Lane& lane) {
                         return (context.steps.empty() || lane.rank == rank) &&
                                lane.policy == LanePolicy::program_order;
                       }) &&
           std::all_of(durations.begin(), durations.end(),
                       [](std::int64_t duration) { return duration >= 0; });
  }

  /// Streams by lane; false if there are too many, or what they run is in two parts.
  bool find_streams() {
    stream_of_.assign(graph_.context().lanes.size(), 0);
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const auto task = make_id<TaskId>(i);
      if (!is_device(graph_.kind(task))) continue;
      const TaskPart part = graph_.work(task).part;
      if (part == TaskPart::begin || part == TaskPart::finish) return false;
      stream_of_[index(graph_.lane_id(task))] = 1;
    }
    std::size_t streams = 0;
    for (std::size_t& stream : stream_of_) {
      if (stream != 0) stream = ++streams;
    }
    program_.streams_.resize(streams);
    return streams <= most_streams;
  }

  [[nodiscard]] bool only_continues(std::size_t task) const {
    const auto& source = topology_.sources[task];
    const Point before = source[lane_slot];
    return before != no_point && index(before) % 2 == 1 && source[cause_slot] == no_point &&
           source[extra_slot] == no_point && !has_further_[task] &&
           factor_of(graph_.kind(make_id<TaskId>(task))) == Factor::host &&
           (*graph_.weights().segment_ns)[task] >= 0;
  }

  void find_nodes() {
    has_further_.assign(graph_.size(), false);
    for (const OverflowDependency& row : topology_.overflow) {
      has_further_[index(row.task)] = true;
      // Its duration is asked for by itself.
      if (row.source != no_point && row.fraction != 0) {
        has_further_[index(task_of(row.source))] = true;
      }
    }
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      if (only_continues(i) && join_chain(i)) continue;
      place_[i] = {true, static_cast<std::uint32_t>(nodes_.size()), 0};
      nodes_.push_back(static_cast<std::uint32_t>(i));
    }
  }

  /// False if another task goes on from where this one would.
  bool join_chain(std::size_t task) {
    const std::size_t before = index(task_of(topology_.sources[task][lane_slot]));
    const Place& there = place_[before];
    std::uint32_t chain = there.number;
    if (there.is_node) {
      chain = static_cast<std::uint32_t>(chains_.size());
      chains_.push_back({static_cast<std::uint32_t>(before), {}});
    } else if (chains_[chain].tasks.back() != before) {
      return false;
    }
    place_[task] = {false, chain, static_cast<std::uint32_t>(chains_[chain].tasks.size())};
    chains_[chain].tasks.push_back(static_cast<std::uint32_t>(task));
    return true;
  }

  /// The node whose end a point follows, or whose time it is.
  [[nodiscard]] std::uint32_t node_behind(Point point) const {
    const Place& there = place_[index(point) / 2];
    return there.is_node ? there.number : place_[chains_[there.number].head].number;
  }

  /// Nodes that have to come before others, by the node that waits: pairs {node, source}.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> waits_of_nodes() const {
    std::vector<std::vector<std::uint32_t>> waits(nodes_.size());
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      for (const Point source : topology_.sources[nodes_[node]]) {
        if (source != no_point) waits[node].push_back(node_behind(source));
      }
    }
    for (const OverflowDependency& row : topology_.overflow) {
      if (row.source == no_point) continue;
      std::vector<std::uint32_t>& own = waits[place_[index(row.task)].number];
      own.push_back(node_behind(row.source));
      if (row.late_after != no_point) own.push_back(node_behind(row.late_after));
    }
    return waits;
  }

  /// Each lane goes on as long as it can: what follows the node before it need not be looked up.
  void order_nodes() {
    const auto waits = waits_of_nodes();
    std::vector<std::vector<std::uint32_t>> lanes(graph_.context().lanes.size());
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      lanes[index(graph_.lane_id(make_id<TaskId>(nodes_[node])))].push_back(
          static_cast<std::uint32_t>(node));
    }
    std::vector<bool> is_placed(nodes_.size());
    std::vector<std::size_t> next(lanes.size());
    std::vector<std::uint32_t> ordered;
    while (ordered.size() < nodes_.size()) {
      for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
        for (; next[lane] < lanes[lane].size(); ++next[lane]) {
          const std::uint32_t node = lanes[lane][next[lane]];
          const bool is_ready =
              std::all_of(waits[node].begin(), waits[node].end(),
                          [&](std::uint32_t source) { return is_placed[source]; });
          if (!is_ready) break;
          is_placed[node] = true;
          ordered.push_back(nodes_[node]);
        }
      }
    }
    nodes_ = std::move(ordered);
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      place_[nodes_[node]].number = static_cast<std::uint32_t>(node);
    }
  }

  void number_members() {
    const Weights& weights = graph_.weights();
    for (const Chain& chain : chains_) {
      for (const std::uint32_t task : chain.tasks) {
        place_[task].member = static_cast<std::uint32_t>(program_.members_.size());
        program_.members_.push_back({static_cast<double>((*weights.segment_ns)[task]),
                                     static_cast<double>((*weights.duration_ns)[task]),
                                     task == chain.tasks.front()});
      }
    }
  }

  [[nodiscard]] StepProgram::Time time_at(Point point) const {
    const auto half = static_cast<std::uint32_t>(index(point) % 2);
    const Place& there = place_[index(point) / 2];
    if (there.is_node) return {2 * there.number + half, StepProgram::no_chain};
    return {2 * place_[chains_[there.number].head].number + 1, 2 * there.member + half};
  }

  void add_source(std::size_t node, std::size_t slot, Point point, std::int64_t lag_ns) {
    const auto origin = static_cast<std::uint32_t>(2 * nodes_.size());
    StepProgram::Time time{slot == lane_slot ? origin : origin + 1, StepProgram::no_chain};
    if (point != no_point) time = time_at(point);
    program_.sources_[slot].push_back(time.at);
    program_.lags_[slot].push_back(lag_ns);
    if (time.chain == StepProgram::no_chain) return;
    program_.chain_lags_[slot].push_back({static_cast<std::uint32_t>(node), time.chain, lag_ns});
  }

  void lay_out_nodes() {
    const Weights& weights = graph_.weights();
    program_.nodes_ = nodes_.size();
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      const std::uint32_t task = nodes_[node];
      const auto& source = topology_.sources[task];
      const std::int64_t duration = (*weights.duration_ns)[task];
      const std::int64_t segment = (*weights.segment_ns)[task];
      const auto& lags = (*weights.lag_ns)[task];
      program_.duration_ns_.push_back(duration);
      program_.segment_ns_.push_back(static_cast<double>(segment));
      const auto kind = static_cast<std::size_t>(factor_of(graph_.kind(make_id<TaskId>(task))));
      program_.durations_[kind].add(node, duration);
      add_source(node, lane_slot, source[lane_slot], segment);
      add_source(node, cause_slot, source[cause_slot], lags[0]);
      add_source(node, extra_slot, source[extra_slot], lags[1]);
      add_to_stretches(node);
    }
  }

  void add_to_stretches(std::size_t node) {
    using Kind = StepProgram::Stretch::Kind;
    const auto& source = topology_.sources[nodes_[node]];
    const Point before = source[lane_slot];
    Kind kind = Kind::general;
    if (has_further_[nodes_[node]]) {
      kind = Kind::overflow;
    } else if (node > 0 && before != no_point && source[extra_slot] == no_point &&
               index(before) == 2 * std::size_t{nodes_[node - 1]} + 1) {
      kind = Kind::stream;
    }
    auto& stretches = program_.stretches_;
    const auto at = static_cast<std::uint32_t>(node);
    if (kind == Kind::overflow || stretches.empty() || stretches.back().kind != kind) {
      stretches.push_back({at, at, kind});
    }
    stretches.back().to = at + 1;
  }

  void lay_out_further() {
    std::vector<std::pair<std::uint32_t, StepProgram::Further>> rows;
    for (std::size_t i = 0; i < topology_.overflow.size(); ++i) {
      const OverflowDependency& row = topology_.overflow[i];
      if (row.source == no_point) continue;
      StepProgram::Further further{.source = time_at(row.source),
                                   .late_after = {},
                                   .has_late_after = row.late_after != no_point,
                                   .fraction = row.fraction,
                                   .node = 0,
                                   .lag_ns = (*graph_.weights().overflow_lag_ns)[i]};
      if (further.has_late_after) further.late_after = time_at(row.late_after);
      const Place& source = place_[index(task_of(row.source))];
      if (source.is_node) further.node = source.number;
      rows.emplace_back(place_[index(row.task)].number, further);
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [node, further] : rows) {
      program_.further_nodes_.push_back(node);
      program_.further_.push_back(further);
    }
  }

  /// The operations of a stream come in the order of their nodes, which is that of the stream.
  void lay_out_streams() {
    bool follows = program_.streams_.size() == 1;
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      const auto task = make_id<TaskId>(nodes_[node]);
      if (!is_device(graph_.kind(task))) continue;
      auto& operations = program_.streams_[stream_of_[index(graph_.lane_id(task))] - 1];
      if (!operations.empty()) {
        const Point before = topology_.sources[nodes_[node]][lane_slot];
        follows = follows && before != no_point &&
                  index(before) == 2 * index(operations.back().task) + 1 &&
                  graph_.segment_ns(task) >= 0;
      }
      operations.push_back({static_cast<std::uint32_t>(node), graph_.step(task), task});
    }
    program_.is_one_stream_ = follows;
  }

  void group_operations() {
    program_.step_operations_.resize(program_.steps_.size());
    const auto& operations = program_.streams_.front();
    for (std::size_t i = 0; i < operations.size(); ++i) {
      if (operations[i].step < 0) continue;
      auto& own = program_.step_operations_[static_cast<std::size_t>(operations[i].step)];
      if (own.count++ == 0) own.first = i;
      own.last = i;
    }
  }

  const TaskGraph& graph_;
  const Topology& topology_;
  StepProgram program_;
  std::vector<std::size_t> stream_of_;  ///< per lane: number of its stream from 1; 0: none
  std::vector<bool> has_further_;
  std::vector<Place> place_;          ///< per task
  std::vector<std::uint32_t> nodes_;  ///< their tasks
  std::vector<Chain> chains_;
};

std::optional<StepProgram> StepProgram::of(const TaskGraph& graph) {
  return StepProgramBuilder(graph).build();
}

}  // namespace foretrace
