// The rules are those of Megatron-LM as the analysis of the recordings states them (Lin et al.,
// Understanding Stragglers in Large Model Training Using What-if Analysis, 2025).
#include "tests/validation/tables/recorded_pipeline.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sim/core/params.h"
#include "sim/graph/graph_builder.h"

namespace foretrace {
namespace {

constexpr std::array<std::string_view, pipeline_op_count> op_names = {"forward-compute",
                                                                      "backward-compute",
                                                                      "forward-send",
                                                                      "forward-recv",
                                                                      "backward-send",
                                                                      "backward-recv",
                                                                      "params-all-gather",
                                                                      "grads-reduce-scatter",
                                                                      "layernorm-grads-all-reduce",
                                                                      "embedding-grads-all-reduce",
                                                                      "optimizer-clip-main-grad",
                                                                      "optimizer",
                                                                      "gc"};

/// Operations that follow each other on a worker.
enum class Chain : std::uint8_t {
  compute,
  forward_send,
  forward_receive,
  backward_send,
  backward_receive,
  shards,
  end
};

Chain chain_of(PipelineOp op) {
  switch (op) {
    case PipelineOp::forward:
    case PipelineOp::backward: return Chain::compute;
    case PipelineOp::forward_send: return Chain::forward_send;
    case PipelineOp::forward_receive: return Chain::forward_receive;
    case PipelineOp::backward_send: return Chain::backward_send;
    case PipelineOp::backward_receive: return Chain::backward_receive;
    case PipelineOp::gather_parameters:
    case PipelineOp::scatter_gradients: return Chain::shards;
    default: return Chain::end;
  }
}

bool meets_others(PipelineOp op) {
  return op != PipelineOp::forward && op != PipelineOp::backward &&
         op != PipelineOp::reduce_norms && op != PipelineOp::update &&
         op != PipelineOp::collect_garbage;
}

/// Place in the order of a step's end.
int end_order(PipelineOp op) {
  constexpr std::array order = {PipelineOp::collect_garbage, PipelineOp::reduce_norms,
                                PipelineOp::reduce_embedding, PipelineOp::clip, PipelineOp::update};
  return static_cast<int>(std::find(order.begin(), order.end(), op) - order.begin());
}

using Worker = std::pair<std::uint32_t, std::uint32_t>;  // data rank, stage
/// What meets: kind, and what tells one meeting from another.
using Meeting = std::tuple<PipelineOp, std::uint32_t, std::uint32_t, std::uint32_t>;

Meeting meeting_of(const PipelineOperation& o) {
  switch (o.op) {
    case PipelineOp::forward_send: return {o.op, o.data_rank, o.stage, o.number};
    case PipelineOp::forward_receive:
      return {PipelineOp::forward_send, o.data_rank, o.stage - 1, o.number};
    case PipelineOp::backward_send: return {o.op, o.data_rank, o.stage, o.number};
    case PipelineOp::backward_receive:
      return {PipelineOp::backward_send, o.data_rank, o.stage + 1, o.number};
    case PipelineOp::reduce_embedding: return {o.op, o.data_rank, 0, o.number};
    case PipelineOp::clip: return {o.op, 0, 0, o.number};
    default: return {o.op, 0, o.stage, o.number};  // all data ranks of a stage
  }
}

class Builder {
 public:
  explicit Builder(std::uint32_t stages) : stages_(stages) {}

  Result<TaskGraph> run(std::vector<PipelineOperation> operations) {
    std::stable_sort(operations.begin(), operations.end(), comes_before);
    for (const PipelineOperation& o : operations) {
      FORETRACE_TRY(add(o));
    }
    for (const auto& [meeting, members] : meetings_) {
      for (const auto& [begin, transfer] : members) {
        for (const auto& [other, ignored] : members) {
          if (other != begin) after(transfer, other);
        }
      }
    }
    for (const auto& [worker, computes] : computes_) connect(worker, computes);
    return std::move(builder_).build();
  }

 private:
  static bool comes_before(const PipelineOperation& a, const PipelineOperation& b) {
    const auto key = [](const PipelineOperation& o) {
      const Chain chain = chain_of(o.op);
      // Computation as recorded; the end of a step as it must be; the rest by number.
      const std::int64_t first = chain == Chain::compute ? o.start_ns
                                 : chain == Chain::end   ? end_order(o.op)
                                                         : static_cast<int>(o.op);
      return std::tuple(o.data_rank, o.stage, chain, first, o.number);
    };
    return key(a) < key(b);
  }

  LaneId lane_of(const Worker& worker, Chain chain) {
    const auto [at, is_new] = lanes_.try_emplace({worker, chain}, LaneId{});
    if (is_new) {
      Lane lane;
      lane.kind = LaneKind::stream;
      lane.rank = static_cast<std::int32_t>(worker.first * stages_ + worker.second);
      lane.device = 0;
      lane.number = static_cast<std::int64_t>(chain);
      at->second = builder_.add_lane(std::move(lane));
    }
    return at->second;
  }

  TaskId put(const PipelineOperation& o, std::string_view name, std::int64_t duration_ns) {
    Work work;
    work.name = builder_.add_name(name);
    work.kind = TaskKind::kernel;
    TaskSpec task;
    task.lane = lane_of({o.data_rank, o.stage}, chain_of(o.op));
    task.work = builder_.add_work(work);
    task.kind = TaskKind::kernel;
    task.duration_ns = duration_ns;
    return builder_.add_task(task);
  }

  Status add(const PipelineOperation& o) {
    const std::string_view name = op_names[static_cast<std::size_t>(o.op)];
    TaskId begin = none<TaskId>;
    if (meets_others(o.op)) begin = put(o, "is there", 0);
    const TaskId task = put(o, name, o.duration_ns);
    if (begin == none<TaskId>) begin = task;
    const Worker worker{o.data_rank, o.stage};
    if (!placed_.try_emplace({worker, o.op, o.number}, Placed{begin, task}).second) {
      return Error{ErrorCode::bad_format,
                   fmt::format("{} {} of data rank {}, stage {}: appears twice", name, o.number,
                               o.data_rank, o.stage)};
    }
    if (meets_others(o.op)) meetings_[meeting_of(o)].emplace_back(begin, task);
    if (chain_of(o.op) == Chain::compute) computes_[worker].push_back({o.op, o.number, task});
    if (o.op == PipelineOp::gather_parameters) last_gather_[worker] = task;
    return ok_status();
  }

  struct Placed {
    TaskId begin{};
    TaskId task{};
  };
  struct Compute {
    PipelineOp op;
    std::uint32_t number;
    TaskId task;
  };

  void after(TaskId task, TaskId source) {
    builder_.add_dependency(
        {.source = end_of(source), .task = task, .kind = DependencyKind::control});
  }
  [[nodiscard]] const Placed* find(const Worker& worker, PipelineOp op,
                                   std::uint32_t number) const {
    const auto found = placed_.find({worker, op, number});
    return found == placed_.end() ? nullptr : &found->second;
  }

  void connect(const Worker& worker, const std::vector<Compute>& computes) {
    for (const Compute& compute : computes) {
      const bool forward = compute.op == PipelineOp::forward;
      const auto receive = forward ? PipelineOp::forward_receive : PipelineOp::backward_receive;
      const auto send = forward ? PipelineOp::forward_send : PipelineOp::backward_send;
      if (const Placed* got = find(worker, receive, compute.number)) {
        after(compute.task, got->task);
      }
      if (const Placed* sent = find(worker, send, compute.number)) {
        after(sent->begin, compute.task);
      }
      if (const Placed* next = find(worker, receive, compute.number + 1)) {
        after(next->begin, compute.task);
      }
    }
    // Backward transfers begin while the last warm-up computation runs.
    const auto first = std::find_if(computes.begin(), computes.end(), [](const Compute& compute) {
      return compute.op == PipelineOp::backward;
    });
    if (first != computes.end() && first - computes.begin() >= 2) {
      for (const auto op : {PipelineOp::backward_receive, PipelineOp::backward_send}) {
        if (const Placed* begun = find(worker, op, 0)) after(begun->begin, (first - 2)->task);
      }
    }
    if (const auto found = last_gather_.find(worker); found != last_gather_.end()) {
      after(computes.front().task, found->second);
    }
    connect_end(worker, computes.back().task);
  }

  /// last computation -> garbage -> norms -> embedding -> gradients -> clip -> update
  void connect_end(const Worker& worker, TaskId last) {
    constexpr std::array before = {
        PipelineOp::collect_garbage,   PipelineOp::reduce_norms, PipelineOp::reduce_embedding,
        PipelineOp::scatter_gradients, PipelineOp::clip,         PipelineOp::update};
    for (const PipelineOp op : before) {
      TaskId end = none<TaskId>;
      for (std::uint32_t number = 0;; ++number) {
        const Placed* const placed = find(worker, op, number);
        if (placed == nullptr) break;
        if (number == 0) after(placed->begin, last);
        end = placed->task;
      }
      if (end != none<TaskId>) last = end;
    }
  }

  std::uint32_t stages_;
  GraphBuilder builder_;
  std::map<std::pair<Worker, Chain>, LaneId> lanes_;
  std::map<std::tuple<Worker, PipelineOp, std::uint32_t>, Placed> placed_;
  std::map<Meeting, std::vector<std::pair<TaskId, TaskId>>> meetings_;
  std::map<Worker, std::vector<Compute>> computes_;
  std::map<Worker, TaskId> last_gather_;
};

}  // namespace

Result<PipelineOp> pipeline_op(std::string_view name) {
  const auto* const at = std::find(op_names.begin(), op_names.end(), name);
  if (at != op_names.end()) return static_cast<PipelineOp>(at - op_names.begin());
  return Error{ErrorCode::bad_format,
               fmt::format("got {}{}, expected one of {}", in_quotes(name),
                           did_you_mean(name, op_names), fmt::join(op_names, ", "))};
}

Result<TaskGraph> recorded_pipeline(const std::vector<PipelineOperation>& operations,
                                    std::uint32_t stages) {
  return Builder(stages).run(operations);
}

}  // namespace foretrace
