// Random graphs and random changes from a seed or from bytes, for laws and fuzzing.
//
// The graphs have everything that a trace gives: launches with one or several kernels, streams with
// queues, synchronizations as rules, events, hand-overs, capacity edges, lags of every size, pairs
// of begin and finish, ranks that meet, steps, tensors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/edit/editor.h"
#include "sim/edit/selection.h"
#include "sim/graph/change.h"
#include "sim/graph/graph_builder.h"

namespace foretrace::test {

/// Decisions from a seed, or from bytes until they are used up (then always 0).
class Choices {
 public:
  explicit Choices(std::uint64_t seed) : engine_(seed), seeded_(true) {}
  explicit Choices(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  /// A number below `limit`.
  std::uint32_t below(std::uint32_t limit) {
    if (limit <= 1) return 0;
    if (seeded_) return static_cast<std::uint32_t>(engine_() % limit);
    return (limit <= 256 ? byte() : byte() << 8U | byte()) % limit;
  }
  bool one_in(std::uint32_t n) { return below(n) == n - 1; }
  [[nodiscard]] bool used_up() const { return !seeded_ && at_ >= bytes_.size(); }

 private:
  std::uint32_t byte() { return at_ < bytes_.size() ? bytes_[at_++] : 0U; }

  std::mt19937_64 engine_;
  bool seeded_ = false;
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

struct RandomGraphTraits {
  std::size_t operations = 60;
  bool conditions = true;  ///< dependencies that count only if late: times are not monotone then
  bool negative_lags = true;
  bool loose_work = true;  ///< device work without a launch
};

/// Makes one random graph; all durations, segments and lags are even, so that halves are exact.
class RandomGraph {
 public:
  RandomGraph(Choices& choices, RandomGraphTraits traits) : choices_(choices), traits_(traits) {}

  TaskGraph build() {
    lanes();
    for (std::size_t i = 0; i < traits_.operations && !choices_.used_up(); ++i) operation();
    finish();
    auto graph = std::move(builder_).build();
    FORETRACE_CHECK(graph.ok());
    return std::move(graph).value();
  }

 private:
  void lanes() {
    const std::uint32_t ranks = 1 + choices_.below(2);
    for (std::uint32_t r = 0; r < ranks; ++r) {
      const auto rank = static_cast<std::int32_t>(r);
      for (std::uint32_t i = 0; i <= choices_.below(3); ++i) {
        hosts_.push_back(builder_.add_lane({LaneKind::host_thread, rank, no_device, i, 0, "host"}));
      }
      for (std::uint32_t i = 0; i <= choices_.below(4); ++i) {
        const std::uint32_t depth = choices_.below(2) == 0 ? 0 : 1 + choices_.below(4);
        const LaneKind kind = i == 3 ? LaneKind::copy_direction : LaneKind::stream;
        streams_.push_back(builder_.add_lane({kind, rank, rank, 7 + i, depth, "stream"}));
      }
    }
    if (ranks > 1) {
      channel_ = builder_.add_lane({LaneKind::channel, -1, no_device, 0, 0, "channel"});
    }
    builder_.add_layer("model/block");
    builder_.add_capacity({"sm", 1.0});
  }

  std::int64_t time() { return 2 * static_cast<std::int64_t>(choices_.below(100)); }
  std::int64_t lag() {
    const std::int64_t value = time();
    if (choices_.one_in(40)) return value + (std::int64_t{1} << 33);
    return traits_.negative_lags && choices_.one_in(8) ? -value / 4 * 2 : value;
  }
  LaneId any(const std::vector<LaneId>& lanes) {
    return lanes[choices_.below(static_cast<std::uint32_t>(lanes.size()))];
  }
  std::int32_t rank_of(LaneId lane) { return builder_.context().lanes[index(lane)].rank; }
  TaskId any_before(std::size_t count) {
    return make_id<TaskId>(choices_.below(static_cast<std::uint32_t>(count)));
  }
  Point any_point(std::size_t count) {
    const TaskId task = any_before(count);
    return choices_.one_in(3) ? start_of(task) : end_of(task);
  }

  TaskId add(LaneId lane, TaskKind kind, TaskPart part = TaskPart::whole) {
    static const char* const names[] = {"gemm", "add", "norm", "it's & more"};
    Work work;
    work.name = builder_.add_name(names[choices_.below(4)]);
    work.operator_name = builder_.add_name(choices_.one_in(2) ? "aten::mm" : "");
    work.kind = kind;
    work.part = part;
    TaskSpec task{lane, builder_.add_work(work), kind, time(), time()};
    task.phase = static_cast<Phase>(choices_.below(phase_count));
    task.layer = LayerId{choices_.below(2)};
    return builder_.add_task(task);
  }

  void launch() {
    const TaskId call = add(any(hosts_), TaskKind::launch);
    const std::uint32_t count = choices_.one_in(5) ? 1 + choices_.below(4) : 1;
    const LaneId stream = any(streams_);
    for (std::uint32_t i = 0; i < count; ++i) {
      const LaneId lane = choices_.one_in(6) ? any(streams_) : stream;
      const TaskId work = add(lane, choices_.one_in(4) ? TaskKind::copy : TaskKind::kernel);
      builder_.add_dependency({choices_.one_in(6) ? start_of(call) : end_of(call), work,
                               DependencyKind::launch, lag()});
      if (choices_.one_in(5)) wait(work, DependencyKind::event_wait);
      if (choices_.one_in(6)) depend(work, call, DependencyKind::event_wait);
    }
  }

  void wait(TaskId task, DependencyKind kind) {
    Wait wait;
    wait.task = task;
    wait.at = choices_.one_in(3) ? any_before(index(task) + 1) : task;
    wait.kind = kind;
    wait.lag_ns = lag();
    const LaneId lane = any(streams_);
    wait.rank = rank_of(lane);
    if (!choices_.one_in(4)) wait.lane = lane;
    if (choices_.one_in(2)) wait.device = wait.rank;
    if (traits_.conditions && index(task) > 0 && choices_.one_in(3)) {
      wait.late_after = any_point(index(task));
    }
    builder_.add_wait(wait);
  }

  /// On something that stands before `before`.
  void depend(TaskId task, TaskId before, DependencyKind kind) {
    if (index(before) == 0) return;
    Dependency d{any_point(index(before)), task, kind, lag(), 0.0F, no_point};
    if (choices_.one_in(3)) {
      d.source = start_of(task_of(d.source));
      d.fraction = 0.5F;
      d.kind = DependencyKind::capacity;
    }
    if (traits_.conditions && choices_.one_in(4)) d.late_after = any_point(index(before));
    builder_.add_dependency(d);
  }

  /// A collective of all ranks: everybody arrives, then everybody transfers.
  void meet() {
    std::vector<TaskId> arrivals;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      const auto of_rank = [&](LaneId lane) { return rank_of(lane) == rank; };
      const auto host = std::find_if(hosts_.begin(), hosts_.end(), of_rank);
      const auto stream = std::find_if(streams_.begin(), streams_.end(), of_rank);
      const TaskId call = add(*host, TaskKind::launch);
      arrivals.push_back(add(*stream, TaskKind::collective, TaskPart::begin));
      builder_.add_dependency({end_of(call), arrivals.back(), DependencyKind::launch, lag()});
    }
    const TaskId join = add(channel_, TaskKind::transfer);
    for (const TaskId arrival : arrivals) {
      builder_.add_dependency({end_of(arrival), join, DependencyKind::rendezvous});
    }
    for (const TaskId arrival : arrivals) {
      const TaskId finish =
          add(builder_.columns().lane[index(arrival)], TaskKind::collective, TaskPart::finish);
      builder_.add_dependency({end_of(join), finish, DependencyKind::rendezvous});
    }
  }

  void operation() {
    switch (choices_.below(11)) {
      default: return launch();
      case 10: return channel_ == none<LaneId> ? launch() : meet();
      case 5: {
        const TaskId call = add(any(hosts_), TaskKind::synchronization);
        return wait(call, DependencyKind::synchronization);
      }
      case 6: {
        const LaneId lane = any(hosts_);
        add(lane, TaskKind::synchronization, TaskPart::begin);
        const TaskId end = add(lane, TaskKind::synchronization, TaskPart::finish);
        wait(end, DependencyKind::synchronization);
        return depend(end, end, DependencyKind::synchronization);
      }
      case 7: {
        const TaskId task = add(any(hosts_), TaskKind::host);
        return depend(task, task, DependencyKind::hand_over);
      }
      case 8: {
        if (!traits_.loose_work) return launch();
        const TaskId task = add(any(streams_), TaskKind::kernel);
        return depend(task, task, DependencyKind::data);
      }
      case 9: {
        const TaskId task = add(any(hosts_), TaskKind::mark);
        if (mark_ == none<TaskId>) {
          mark_ = task;
        } else {
          builder_.add_step({0, step_++, std::exchange(mark_, none<TaskId>), task});
        }
        return;
      }
    }
  }

  void finish() {
    const auto tasks = builder_.size();
    const auto steps = static_cast<std::uint32_t>(builder_.context().steps.size());
    for (std::size_t t = 0; t < tasks; ++t) {
      const auto task = make_id<TaskId>(t);
      builder_.columns().step[t] = static_cast<std::int32_t>(choices_.below(steps + 1)) - 1;
      if (choices_.one_in(6)) builder_.add_segment_part({task, NameId{}, LayerId{1}, 4});
      if (choices_.one_in(8)) builder_.add_demand({task, 0, 0.5F});
      if (choices_.one_in(8)) {
        builder_.add_tensor({.bytes = 64,
                             .category = TensorCategory::activation,
                             .allocated_in = any_before(t + 1),
                             .freed_in = choices_.one_in(2) ? none<TaskId> : task,
                             .allocated_offset_ns = 3,
                             .freed_offset_ns = 5});
      }
    }
  }

  Choices& choices_;
  RandomGraphTraits traits_;
  GraphBuilder builder_;
  std::vector<LaneId> hosts_;
  std::vector<LaneId> streams_;
  LaneId channel_ = none<LaneId>;
  TaskId mark_ = none<TaskId>;
  std::int64_t step_ = 0;
};

inline TaskGraph random_graph(Choices& choices, RandomGraphTraits traits = {}) {
  return RandomGraph(choices, traits).build();
}

/// Which edits a random change is made of.
enum class RandomEdits : std::uint8_t {
  all,     ///< what they say may make no sense: then the editor or commit() has to refuse it
  lawful,  ///< those that keep who waits for whom by themselves: commit() takes them all
};

/// Makes a change of one to a few edits.
class RandomChange {
 public:
  RandomChange(Choices& choices, const TaskGraph& graph, RandomEdits edits)
      : choices_(choices), graph_(graph), editor_(graph), edits_(edits) {}

  Result<Change> make() {
    const std::uint32_t most = edits_ == RandomEdits::lawful ? 9 : 3;
    for (std::uint32_t i = 0; i <= choices_.below(most); ++i) {
      if (graph_.size() == 0) break;
      const Status status = edits_ == RandomEdits::lawful ? lawful() : any_edit();
      if (!status) return status.error();
    }
    return editor_.finish();
  }

 private:
  TaskId any() {
    return make_id<TaskId>(choices_.below(static_cast<std::uint32_t>(graph_.size())));
  }
  LaneId any_lane() {
    return make_id<LaneId>(
        choices_.below(static_cast<std::uint32_t>(graph_.context().lanes.size())));
  }
  Place any_place() { return choices_.one_in(2) ? Place::before : Place::after; }
  std::vector<TaskId> some() {
    std::vector<TaskId> tasks;
    if (graph_.size() == 0) return tasks;
    for (std::uint32_t i = 0; i <= choices_.below(6); ++i) tasks.push_back(any());
    std::sort(tasks.begin(), tasks.end());
    tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());
    return tasks;
  }
  /// Tasks of one lane, neighbours or with others between them.
  std::vector<TaskId> of_lane(bool gaps) {
    std::vector<TaskId> tasks;
    if (graph_.size() == 0) return tasks;
    const TaskId first = any();
    const std::uint32_t count = 1 + choices_.below(5);
    for (std::size_t t = index(first); t < graph_.size() && tasks.size() < count; ++t) {
      const auto task = make_id<TaskId>(t);
      if (graph_.lane_id(task) != graph_.lane_id(first) || (gaps && choices_.one_in(3))) continue;
      tasks.push_back(task);
    }
    return tasks;
  }

  /// Refused groups are left as they are.
  Status lawful() {
    switch (choices_.below(8)) {
      case 0:
      case 1: {
        const auto segment = choices_.one_in(2) ? SegmentOf::take : SegmentOf::keep;
        const auto partners = choices_.one_in(3) ? Partners::alone : Partners::both;
        editor_.remove(some(), {segment, segment, partners});
        return ok_status();
      }
      case 2: {
        editor_.insert(editor_.like(any()), any(), any_place());
        return ok_status();
      }
      case 3: {
        for (const auto& piece : editor_.cut(of_lane(choices_.one_in(2)))) {
          if (!editor_.merge(piece).ok()) return Error{ErrorCode::bad_usage, "cut, not merged"};
        }
        return ok_status();
      }
      case 4: {
        const auto parts = editor_.split(any(), {.parts = 1 + choices_.below(4)});
        (void)parts.ok();
        return ok_status();
      }
      case 5: {
        const NewCall call{editor_.add_work("one call", TaskKind::launch), choices_.below(50)};
        const auto put = editor_.replace_calls(of_lane(choices_.one_in(2)), call);
        (void)put.ok();
        return ok_status();
      }
      default: {
        for (const auto& piece : editor_.cut(of_lane(choices_.one_in(2)))) {
          const auto stands = choices_.one_in(2) ? Stands::first : Stands::last;
          if (!editor_.replace(piece, new_work(), stands).ok()) {
            return Error{ErrorCode::bad_usage, "cut, not replaced"};
          }
        }
        return ok_status();
      }
    }
  }

  std::vector<NewWork> new_work() {
    std::vector<NewWork> works;
    for (std::uint32_t i = 0; i <= choices_.below(3); ++i) {
      NewWork work;
      work.work = editor_.add_work("fused", TaskKind::kernel);
      work.duration_ns = choices_.below(100);
      work.call = {editor_.add_work("its call", TaskKind::launch), choices_.below(20),
                   choices_.below(20), choices_.below(20)};
      if (choices_.one_in(3)) work.call.latency_from = LatencyFrom::start;
      works.push_back(work);
    }
    return works;
  }

  Status any_edit() {
    switch (choices_.below(16)) {
      case 0: return editor_.scale(some(), choices_.below(8) / 2.0);
      case 1:
        return each(some(), [&](TaskId t) {
          editor_.set_duration(t, 7 * static_cast<std::int64_t>(index(t)) % 300);
          editor_.describe(t, editor_.add_work(graph_.work(t), "said anew"));
        });
      case 2:
        return each(some(), [&](TaskId t) {
          editor_.set_segment(t, 7 * static_cast<std::int64_t>(index(t)) % 300);
        });
      case 3: {
        const auto kind = static_cast<DependencyKind>(choices_.below(dependency_kind_count));
        const std::int64_t lag = choices_.one_in(6) ? std::int64_t{1} << 34 : choices_.below(90);
        return each(some(), [&](TaskId t) { editor_.set_lag(t, kind, lag); });
      }
      case 4:
      case 5: return pair();
      case 6: {
        editor_.move(some(), any_lane());
        return ok_status();
      }
      case 7: {
        if (choices_.one_in(2)) {
          editor_.set_order(of_lane(false));
        } else {
          editor_.reorder(some(), any(), any_place());
        }
        return ok_status();
      }
      case 8: {
        const auto onto = static_cast<Onto>(choices_.below(3));
        auto copies = editor_.replicate(some(), choices_.below(3), onto);
        return copies ? ok_status() : Status(copies.error());
      }
      case 9: return dependencies();
      case 10: return lanes();
      default: return lawful();
    }
  }

  template <typename Edit>
  static Status each(const std::vector<TaskId>& tasks, const Edit& edit) {
    for (const TaskId task : tasks) edit(task);
    return ok_status();
  }

  Status pair() {
    Editor::NewPair pair{editor_.like(any()), editor_.like(any()), choices_.below(50),
                         LatencyFrom::end};
    if (choices_.one_in(2)) pair.device.lane = editor_.add_lane(graph_.context().lanes.back());
    pair.device.work = editor_.add_work(graph_.work(any()), "new");
    const Launched put = editor_.insert(pair, any(), any_place());
    if (choices_.one_in(2)) editor_.share_waits(put.device, any());
    return ok_status();
  }

  Status dependencies() {
    const auto kind = static_cast<DependencyKind>(choices_.below(dependency_kind_count));
    if (choices_.one_in(2)) {
      editor_.remove_dependencies(any(), kind, choices_.one_in(2) ? any() : none<TaskId>);
      return ok_status();
    }
    const TaskId from = any();
    Dependency d{choices_.one_in(3) ? start_of(from) : end_of(from),
                 any(),
                 kind,
                 choices_.below(50),
                 0.0F,
                 no_point};
    if (choices_.one_in(4)) d.late_after = end_of(any());
    if (choices_.one_in(4)) d.fraction = 0.5F;
    editor_.depend(d);
    if (choices_.one_in(2)) return ok_status();
    Wait wait;
    wait.task = any();
    wait.at = choices_.one_in(5) ? editor_.next_task() : any();
    wait.lane = choices_.one_in(3) ? none<LaneId> : any_lane();
    editor_.wait(wait);
    return ok_status();
  }

  Status lanes() {
    switch (choices_.below(3)) {
      case 0: editor_.set_queue_depth(any_lane(), choices_.below(4)); break;
      case 1: editor_.set_policy(any_lane(), LanePolicy::priority); break;
      default: editor_.prioritize(some(), static_cast<std::int32_t>(choices_.below(5)));
    }
    return ok_status();
  }

  Choices& choices_;
  const TaskGraph& graph_;
  Editor editor_;
  RandomEdits edits_;
};

inline Result<Change> random_change(Choices& choices, const TaskGraph& graph,
                                    RandomEdits edits = RandomEdits::all) {
  return RandomChange(choices, graph, edits).make();
}

}  // namespace foretrace::test
