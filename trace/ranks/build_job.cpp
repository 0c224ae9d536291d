#include <algorithm>
#include <memory>
#include <queue>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "trace/io/out_of_memory.h"
#include "trace/ranks/job.h"
#include "trace/ranks/matching/buffered_sends.h"
#include "trace/ranks/merge_order.h"
#include "trace/ranks/prepare_ranks.h"
#include "trace/ranks/stalls.h"
#include "trace/rules/emit/emit.h"
#include "trace/rules/emit/rank_emitter.h"
#include "trace/rules/rules.h"

namespace foretrace::trace {
namespace {

class JobBuilder {
 public:
  JobBuilder(std::span<RankTrace> ranks, const BuildOptions& options)
      : ranks_(ranks), options_(options) {}

  Result<BuiltJob> run() {
    FORETRACE_TRY(PreparedJob prepared, prepare_ranks(ranks_, options_));
    prepared_ = std::move(prepared.ranks);
    conflicts_ = prepared.conflicts;
    job_.collectives = std::move(prepared.collectives);
    job_.matching = std::move(prepared.matching);
    emit();
    return finish();
  }

 private:
  void add_communicators() {
    for (const JobCommunicator& communicator : job_.matching.communicators) {
      Communicator row{communicator.name, communicator.size, {}};
      for (const std::uint32_t member : communicator.members) {
        row.ranks.push_back(ranks_[member].rank);
      }
      builder_.add_communicator(std::move(row));
      channels_.push_back(builder_.add_lane(
          {.kind = LaneKind::channel, .rank = no_rank, .name = communicator.name}));
    }
  }

  /// All items of all ranks, near the order of time; a rank that arrived waits for the others.
  void emit() {
    add_communicators();
    std::int32_t first_step = 0;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      emitters_.push_back(
          std::make_unique<rules::RankEmitter>(prepared_[r]->assembly, builder_, recorded_));
      if (r > 0) {
        emitters_.back()->share_layers(*emitters_.front());
      }
      const std::size_t steps = prepared_[r]->annotation.steps.size();
      emitters_.back()->begin(first_step);
      RankFacts facts;
      facts.rank = ranks_[r].rank;
      facts.first_step = static_cast<std::size_t>(first_step);
      facts.step_count = steps;
      job_.ranks.push_back(std::move(facts));
      first_step += static_cast<std::int32_t>(steps);
      enqueue(r);
    }
    arrived_.resize(job_.matching.collectives.size());
    joins_.resize(job_.matching.collectives.size());
    waits_.resize(ranks_.size());
    while (!ready_.empty()) {
      const std::size_t rank = std::get<1>(ready_.top());
      ready_.pop();
      advance(rank);
    }
  }

  void enqueue(std::size_t rank) {
    if (!emitters_[rank]->done()) {
      ready_.emplace(emitters_[rank]->next_time_ns(), rank);
    }
  }

  /// Items of a rank until another one is due or it meets a rendezvous.
  void advance(std::size_t rank) {
    rules::RankEmitter& emitter = *emitters_[rank];
    while (!emitter.done()) {
      const rules::CollectiveOp* const collective = emitter.advance();
      if (collective != nullptr) {
        arrive(rank, *collective);
        if (collective->waits()) return;
      }
      if (!emitter.done() && !ready_.empty() &&
          emitter.next_time_ns() > std::get<0>(ready_.top())) {
        break;
      }
    }
    enqueue(rank);
  }

  /// A rank that waits goes on when every rendezvous of its kernel is complete.
  void arrive(std::size_t rank, const rules::CollectiveOp& collective) {
    ++job_.ranks[rank].matched;
    waits_[rank] = {collective.joins, collective.joins.size()};
    // What does not wait has sent by and by: its receiver needs the begin only.
    const TaskId task = emitters_[rank]->arrival();
    const Point begun = collective.waits() ? end_of(task) : start_of(task);
    for (const auto* const list : {&collective.announced, &collective.joins}) {
      for (const std::uint32_t join : *list) {
        arrived_[join].emplace_back(rank, begun);
        if (arrived_[join].size() == job_.matching.collectives[join].members.size()) {
          complete(join);
        }
      }
    }
  }

  void complete(std::uint32_t join) {
    const MatchedCollective& collective = job_.matching.collectives[join];
    Work work;
    work.kind = TaskKind::transfer;
    work.name = builder_.add_name(to_string(collective.kind));
    work.bytes = collective.bytes;
    work.collective = collective.kind;
    work.communicator = collective.communicator;
    const TaskId task = builder_.add_task({.lane = channels_[collective.communicator],
                                           .work = builder_.add_work(work),
                                           .kind = TaskKind::transfer,
                                           .phase = Phase::communication});
    recorded_.push_back(-1);
    joins_[join] = task;
    std::vector<std::pair<std::size_t, Point>> arrived = std::move(arrived_[join]);
    std::sort(arrived.begin(), arrived.end());
    for (const auto& [member, point] : arrived) {
      builder_.add_dependency({.source = point, .task = task, .kind = DependencyKind::rendezvous});
    }
    for (const CollectiveMember& member : collective.members) {
      WaitingRank& waiting = waits_[member.rank];
      const bool meets =
          std::find(waiting.joins.begin(), waiting.joins.end(), join) != waiting.joins.end();
      if (meets && --waiting.open == 0) {
        finish_kernel(member.rank);
      }
    }
  }

  void finish_kernel(std::size_t rank) {
    std::vector<TaskId> tasks;
    for (const std::uint32_t join : waits_[rank].joins) {
      tasks.push_back(joins_[join]);
    }
    waits_[rank] = {};
    emitters_[rank]->finish(tasks);
    enqueue(rank);
  }

  Result<BuiltJob> finish() {
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      emitters_[r]->end();
      const auto& measured = emitters_[r]->measured();
      steps_.insert(steps_.end(), measured.begin(), measured.end());
      job_.ranks[r].honesty = prepared_[r]->assembly.honesty;
      job_.ranks[r].honesty.device_busy_ns = device_work_ns(prepared_[r]->assembly);
      job_.ranks[r].collectives = static_cast<std::uint32_t>(job_.collectives[r].list.size());
    }
    add_stalls();
    Honesty honesty = sum_honesty(job_.ranks, span());
    std::vector<DeviceMemory> memory;
    ParameterEstimate parameters;
    for (auto& emitter : emitters_) {
      rules::AddedTensors tensors = emitter->take_tensors();
      std::move(tensors.devices.begin(), tensors.devices.end(), std::back_inserter(memory));
      if (parameters.tensors.empty()) {
        parameters = std::move(tensors.parameters);
      }
    }
    std::string steps_note = prepared_.front()->annotation.steps_note;
    emitters_.clear();
    prepared_.clear();
    FORETRACE_TRY(job_.built, rules::finish_graph(std::move(builder_), std::move(recorded_),
                                                  std::move(steps_), std::move(honesty)));
    job_.built.steps_note = std::move(steps_note);
    job_.built.memory = std::move(memory);
    job_.built.memory_note = rules::memory_note(job_.built.memory);
    job_.built.parameters = std::move(parameters);
    warn();
    return std::move(job_);
  }

  void add_stalls() {
    std::vector<const rules::Assembly*> assemblies;
    for (const auto& prepared : prepared_) {
      assemblies.push_back(&prepared->assembly);
    }
    for (const RankStall& stall : find_stalls(assemblies)) {
      builder_.add_stall(
          {emitters_[stall.rank]->task_at(stall.position), stall.duration_ns, stall.excess_ns});
    }
  }

  /// First begin to last end of all ranks.
  [[nodiscard]] std::int64_t span() const {
    std::int64_t last = 0;
    for (const auto& prepared : prepared_) {
      const rules::Assembly& assembly = prepared->assembly;
      last = std::max(last, assembly.begin_ns - assembly.origin_ns + assembly.honesty.span_ns);
    }
    return last;
  }

  /// Empty if its collectives are told apart.
  static std::string warning_of(const JobCommunicator& communicator) {
    if (communicator.members.size() > 1 && !communicator.refused.empty()) {
      return fmt::format("{}: ranks cannot be aligned ({}); their collectives keep recorded times",
                         communicator.name, communicator.refused);
    }
    return communicator.all_present()
               ? std::string()
               : fmt::format("{}: {} of {} ranks are here; their collectives keep recorded times",
                             communicator.name, communicator.members.size(), communicator.size);
  }

  void warn() {
    constexpr std::size_t most_groups = 8;  // of a part of a pipeline every neighbour is missing
    std::size_t more = 0;
    for (const JobCommunicator& communicator : job_.matching.communicators) {
      std::string warning = warning_of(communicator);
      if (!warning.empty() && job_.built.warnings.size() < most_groups) {
        job_.built.warnings.push_back(std::move(warning));
      } else if (!warning.empty()) {
        ++more;
      }
    }
    if (more > 0) {
      job_.built.warnings.push_back(
          fmt::format("groups not listed that keep recorded times for such reasons: {}", more));
    }
    if (const std::size_t unseen = unseen_sends(job_.collectives, job_.matching); unseen > 0) {
      job_.built.warnings.push_back(fmt::format(
          "{} messages: unknown whether their sends wait for the receiver; they count as buffered",
          unseen));
    }
    if (conflicts_ > 0) {
      job_.built.warnings.push_back(
          fmt::format("{} collectives stand in another order on another rank; they keep "
                      "recorded times",
                      conflicts_));
    }
  }

  static constexpr std::int32_t no_rank = -1;
  using Due = std::pair<std::int64_t, std::size_t>;  // time, rank

  std::span<RankTrace> ranks_;
  const BuildOptions& options_;
  BuiltJob job_;
  std::vector<std::unique_ptr<PreparedRank>> prepared_;
  GraphBuilder builder_;
  std::vector<std::int64_t> recorded_;
  std::vector<MeasuredStep> steps_;
  std::vector<std::unique_ptr<rules::RankEmitter>> emitters_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> ready_;
  struct WaitingRank {
    std::vector<std::uint32_t> joins;
    std::size_t open = 0;  // of them not complete
  };
  std::vector<WaitingRank> waits_;  // per rank: the kernel at which it stands
  std::vector<std::vector<std::pair<std::size_t, Point>>> arrived_;  // per rendezvous
  std::vector<TaskId> joins_;                                        // per rendezvous: its task
  std::vector<LaneId> channels_;                                     // per communicator
  std::size_t conflicts_ = 0;
};

}  // namespace

Result<BuiltJob> build_job(std::span<RankTrace> ranks, const BuildOptions& options) {
  if (ranks.empty()) {
    return Error{ErrorCode::bad_usage, "a job of no ranks, expected at least one"};
  }
  const auto untimed = [](const RankTrace& rank) { return !rank.trace.is_timed(); };
  const auto first = std::find_if(ranks.begin(), ranks.end(), untimed);
  if (first != ranks.end()) {
    const auto count = std::count_if(ranks.begin(), ranks.end(), untimed);
    const std::string_view format = first->trace.events.info.format;
    return Error{ErrorCode::unsupported,
                 count == 1
                     ? fmt::format("{}: {} has no times to separate waiting from transfer, "
                                   "expected a recording with times",
                                   first->path, format)
                     : fmt::format("{}: {} has no times to align ranks, and {} such traces were "
                                   "named; simulate one at a time, unpacked ('inspect' reads all)",
                                   first->path, format, count)};
  }
  FORETRACE_TRY(rules::check_left_out(options.without_rules));
  return or_out_of_memory(ranks.front().path, [&] { return JobBuilder(ranks, options).run(); });
}

}  // namespace foretrace::trace
