#include "models/whatifs/parallelism/recorded_groups.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/editing/transfers/gradient_transfers.h"
#include "models/hardware/networks/cluster.h"
#include "models/whatifs/parallelism/machine.h"
#include "sim/core/text.h"
#include "sim/core/whole.h"

namespace foretrace::editing {
namespace {

bool is_priced(const Work& work) {
  return work.collective == CollectiveKind::barrier ||
         (work.bytes >= 0 && work.collective != CollectiveKind::none);
}

CollectiveCall call_of(const Cluster& cluster, const Work& work, const GridAxis& group) {
  // A barrier adds up one number.
  const bool barrier = work.collective == CollectiveKind::barrier;
  CollectiveCall call;
  call.kind = barrier ? CollectiveKind::all_reduce : work.collective;
  call.bytes = barrier ? 4 : static_cast<double>(work.bytes);
  call.group = place(cluster, group);
  return call;
}

bool is_passing_on(CollectiveKind kind) {
  return kind == CollectiveKind::send || kind == CollectiveKind::receive ||
         kind == CollectiveKind::send_receive;
}

class Regrouper {
 public:
  Regrouper(Editor& editor, const Cluster& cluster, std::uint32_t ranks)
      : editor_(editor), graph_(editor.graph()), cluster_(cluster), ranks_(ranks) {
    for (const Communicator& group : graph_.context().communicators) {
      largest_ = std::max(largest_, group.size);
    }
  }

  Result<std::string> run() {
    FORETRACE_TRY(auto transfers, find_transfers(graph_, "kind=collective"));
    number(transfers);
    for (const Transfer& transfer : transfers) {
      FORETRACE_TRY(set(transfer));
    }
    std::string note = fmt::format("{} collectives {:.2f} ms -> {:.2f} ms on {}", transfers.size(),
                                   before_ * 1e-6, after_ * 1e-6, cluster_.machine);
    if (shortest_used_ > 0) {
      note += fmt::format(
          "; {} whose size is not recorded take the shortest time of the same place in other steps",
          shortest_used_);
    }
    return note;
  }

 private:
  /// The same call of other steps: rank, communicator, kind, number within the step.
  using PlaceInStep = std::tuple<std::int32_t, std::uint32_t, CollectiveKind, std::size_t>;

  void number(const std::vector<Transfer>& transfers) {
    std::map<std::tuple<std::int32_t, std::int32_t, std::uint32_t, CollectiveKind>, std::size_t>
        seen;
    for (const Transfer& transfer : transfers) {
      const Work& work = graph_.work(transfer.task);
      const std::int32_t rank = graph_.lane(transfer.task).rank;
      const std::size_t n =
          seen[{rank, graph_.step(transfer.task), work.communicator, work.collective}]++;
      const PlaceInStep place{rank, work.communicator, work.collective, n};
      place_[transfer.task] = place;
      const std::int64_t ns = graph_.duration_ns(transfer.task);
      const auto [at, is_new] = shortest_.try_emplace(place, ns);
      if (!is_new) at->second = std::min(at->second, ns);
    }
  }

  [[nodiscard]] std::uint32_t ranks_of(const Work& work) const {
    const auto& groups = graph_.context().communicators;
    const std::uint32_t size =
        work.communicator < groups.size() ? groups[work.communicator].size : 0;
    return size > 0 ? size : std::max(ranks_, largest_);
  }

  Status set(const Transfer& transfer) {
    const Work& work = graph_.work(transfer.task);
    before_ += static_cast<double>(graph_.duration_ns(transfer.task));
    const std::uint32_t ranks = ranks_of(work);
    if (!is_priced(work) || ranks < 2) {
      // Waiting is never the same in all steps: the shortest time has the least of it.
      const std::int64_t ns = shortest_.at(place_.at(transfer.task));
      editor_.set_duration(transfer.task, ns, {Provenance::scaled, 0.5F, 1.5F});
      after_ += static_cast<double>(ns);
      ++shortest_used_;
      return ok_status();
    }
    if (ranks > cluster_.accelerators()) {
      return Error{ErrorCode::no_match, fmt::format("a group of {} ranks, expected at most {}",
                                                    ranks, accelerators_of(cluster_, ranks))};
    }
    const TransferTime time = transfer_time(cluster_, call_of(cluster_, work, {ranks, 1}));
    editor_.set_duration(transfer.task, time.ns, time.trust);
    after_ += static_cast<double>(time.ns);
    return ok_status();
  }

  Editor& editor_;
  const TaskGraph& graph_;
  const Cluster& cluster_;
  std::uint32_t ranks_;
  std::uint32_t largest_ = 0;
  std::map<TaskId, PlaceInStep> place_;
  std::map<PlaceInStep, std::int64_t> shortest_;
  double before_ = 0;
  double after_ = 0;
  std::size_t shortest_used_ = 0;
};

/// More or fewer copies of a job. Numbered as Megatron-LM numbers ranks: those that share layers lie
/// next to each other, then copies, then stages.
class Grower {
 public:
  Grower(Editor& editor, const Cluster& cluster)
      : editor_(editor), graph_(editor.graph()), cluster_(cluster) {}

  Result<GrownGroups> run(std::uint32_t copies) {
    FORETRACE_TRY(const auto transfers, find_transfers(graph_, "kind=collective"));
    FORETRACE_TRY(choose(transfers));
    copies_ = copies;
    std::uint32_t stages = 1;
    for (const std::uint32_t group : stages_) stages = std::max(stages, size_of(group));
    const double ranks = double{1} * tensor_ * stages;
    // The job as it was recorded is what it is compared with there.
    const std::uint32_t most = std::max(copies, recorded_);
    if (most * ranks > cluster_.accelerators()) {
      return Error{
          ErrorCode::no_match,
          fmt::format("{} copies of {} ranks{}, expected at most {}", most, ranks,
                      copies < recorded_ ? " were recorded" : "",
                      accelerators_of(cluster_, static_cast<std::uint64_t>(most * ranks)))};
    }
    for (const Transfer& transfer : transfers) set(transfer.task);
    if (copies != recorded_ && unknown_ > 0 && unknown_ == changing_) {
      return Error{
          ErrorCode::missing_cost,
          fmt::format(
              "unknown sizes of all {} collectives, so their time among {} ranks is unknown, "
              "expected recorded sizes (PyTorch 2.3 or later) or a trace of one device",
              unknown_, copies > recorded_ ? "more" : "fewer")};
    }
    enlarge();
    GrownGroups grown;
    grown.growth = double{1} * copies / recorded_;
    find_shares(grown);
    grown.note = note(transfers.size());
    return grown;
  }

 private:
  /// Copies exchange gradients. Other groups of as many ranks, as those of embedding tables, are
  /// the same ranks.
  Status choose(const std::vector<Transfer>& transfers) {
    const std::set<std::uint32_t> splitting = layer_splitting(graph_, transfers);
    const bool routes = routes_tokens();
    std::set<std::uint32_t> others;
    for (const Transfer& transfer : transfers) {
      const Work& work = graph_.work(transfer.task);
      if (splitting.contains(work.communicator)) continue;
      const bool travels = work.collective == CollectiveKind::all_to_all && routes;
      if (travels) experts_.insert(work.communicator);
      (is_passing_on(work.collective) ? stages_ : others).insert(work.communicator);
    }
    for (const std::uint32_t group : experts_) others.erase(group);
    for (const std::uint32_t group : others) stages_.erase(group);
    for (const std::uint32_t group : splitting) tensor_ = std::max(tensor_, size_of(group));
    gradients_ = find_gradient_transfers(graph_);
    for (const Transfer& transfer : gradients_) {
      growing_.insert(graph_.work(transfer.task).communicator);
    }
    // Gradients may go where tokens go: then copies are what that group has.
    for (const std::uint32_t group : growing_) experts_.erase(group);
    if (growing_.empty()) growing_ = others;
    if (growing_.empty() && !splitting.empty()) return cannot_grow(graph_, splitting);
    for (const std::uint32_t group : growing_) {
      const std::uint32_t size = size_of(group);
      if (size >= 2 && (recorded_ == 0 || recorded_ == size)) {
        recorded_ = size;
        continue;
      }
      return Error{
          ErrorCode::unsupported,
          "the trace has collectives of several groups, or of groups of unknown size, so data does "
          "not select which grow; expected recorded=true, or a trace of one device"};
    }
    if (growing_.empty()) {
      return Error{ErrorCode::no_match,
                   "no group adds up gradients or shares tables, expected copies of the job"};
    }
    for (const std::uint32_t group : others) {
      if (size_of(group) == recorded_) growing_.insert(group);
    }
    return ok_status();
  }

  /// Gradients that are scattered are updated in parts. Where backward passes collect parameters as
  /// well, these lie in parts, too (FSDP); a shared optimizer collects them behind its update.
  void find_shares(GrownGroups& grown) const {
    for (const Transfer& transfer : gradients_) {
      const Work& work = graph_.work(transfer.task);
      const bool scatters = work.collective == CollectiveKind::reduce_scatter;
      if (scatters && growing_.contains(work.communicator)) grown.shares_states = true;
    }
    if (!grown.shares_states) return;
    for (const auto& [task, phase] : phases_of_collectives(graph_)) {
      const Work& work = graph_.work(task);
      grown.shares_parameters |= phase == Phase::backward &&
                                 work.collective == CollectiveKind::all_gather &&
                                 growing_.contains(work.communicator);
    }
  }

  /// Tokens choose their experts by the largest scores of a forward pass and travel then; what
  /// travels to tables has none, and scores that come later, as those of an accuracy or of
  /// gradients, send nothing.
  [[nodiscard]] bool routes_tokens() const {
    std::map<std::int32_t, std::int32_t> chosen;  // rank -> the step in whose forward pass it has
    for (std::size_t t = 0; t < graph_.size(); ++t) {
      const auto task = make_id<TaskId>(t);
      const std::int32_t rank = graph_.lane(task).rank;
      const auto found = chosen.find(rank);
      if (graph_.work(task).collective == CollectiveKind::all_to_all && found != chosen.end() &&
          found->second == graph_.step(task)) {
        return true;
      }
      if (graph_.kind(task) != TaskKind::kernel) continue;
      const Phase phase = graph_.phase(task);
      if (phase == Phase::backward || phase == Phase::update) {
        chosen.erase(rank);
      } else if (chooses(task)) {
        chosen[rank] = graph_.step(task);
      }
    }
    return false;
  }

  [[nodiscard]] bool chooses(TaskId task) const {
    const std::string_view op = graph_.context().names[graph_.work(task).operator_name];
    return contains(op, "topk") || contains_any(graph_.name(task), {"topk", "TopK", "moe", "MoE"});
  }

  [[nodiscard]] std::uint32_t size_of(std::uint32_t group) const {
    const auto& groups = graph_.context().communicators;
    return group < groups.size() ? groups[group].size : 0;
  }

  [[nodiscard]] GridAxis axis_of(std::uint32_t group, std::uint32_t copies) const {
    if (stages_.contains(group)) return {2, tensor_ * copies};
    return {copies, tensor_};
  }

  /// What is measured stays, waiting included, and what the machine needs for the other size comes
  /// on top; a transfer that was faster than the machine's stays so.
  void set(TaskId task) {
    const Work& work = graph_.work(task);
    const std::int64_t ns = graph_.duration_ns(task);
    before_ += static_cast<double>(ns);
    after_ += static_cast<double>(ns);
    if (!growing_.contains(work.communicator) && !stages_.contains(work.communicator)) return;
    ++changing_;
    if (copies_ == 1 && growing_.contains(work.communicator)) {
      // Nobody is left to exchange with, nor to wait for.
      editor_.set_duration(task, 0, {Provenance::scaled, 1, 1});
      editor_.remove_dependencies(task, DependencyKind::rendezvous);
      after_ -= static_cast<double>(ns);
      return;
    }
    if (!is_priced(work)) {
      ++unknown_;
      return;
    }
    const auto time = [&](const Cluster& cluster, std::uint32_t copies) {
      return transfer_time(cluster, call_of(cluster, work, axis_of(work.communicator, copies)));
    };
    // It ran on the machine as it is, and goes on with its changed fields.
    const Cluster& recorded_on =
        cluster_.changed_from != nullptr ? *cluster_.changed_from : cluster_;
    const TransferTime old = time(recorded_on, recorded_);
    const TransferTime now = time(cluster_, copies_);
    if (old.ns <= 0 || old.ns == now.ns) return;
    const double share = std::min(1.0, static_cast<double>(ns) / static_cast<double>(old.ns));
    const std::int64_t grown = ns + to_whole(share * static_cast<double>(now.ns - old.ns));
    editor_.set_duration(task, grown, {Provenance::scaled, now.trust.low, now.trust.high});
    after_ += static_cast<double>(grown - ns);
  }

  void enlarge() {
    if (copies_ == recorded_) return;
    std::map<std::uint32_t, std::uint32_t> enlarged;
    std::map<WorkId, WorkId> works;
    for (std::size_t t = 0; t < graph_.size(); ++t) {
      const auto task = make_id<TaskId>(t);
      const WorkId id = graph_.work_id(task);
      Work work = graph_.work(task);
      if (graph_.kind(task) != TaskKind::collective || !growing_.contains(work.communicator)) {
        continue;
      }
      const auto [group, is_new] = enlarged.try_emplace(work.communicator, 0U);
      if (is_new) {
        Communicator made = graph_.context().communicators[work.communicator];
        made.size = copies_;
        group->second = editor_.add_communicator(std::move(made));
      }
      const auto [described, is_first] = works.try_emplace(id, id);
      if (is_first) {
        work.communicator = group->second;
        described->second = editor_.add_work(work);
      }
      editor_.describe(task, described->second);
    }
  }

  [[nodiscard]] std::string note(std::size_t transfers) const {
    std::string text =
        fmt::format("{} copies become {}: {} collectives {:.2f} ms -> {:.2f} ms on {}", recorded_,
                    copies_, transfers, before_ * 1e-6, after_ * 1e-6, cluster_.machine);
    if (tensor_ > 1) text += fmt::format("; tensor-parallel groups of {} keep their size", tensor_);
    if (!experts_.empty()) text += "; expert-parallel groups keep their size";
    if (unknown_ > 0) {
      text += fmt::format("; {} whose size is not recorded keep their time, waiting included",
                          unknown_);
    }
    return text;
  }

  Editor& editor_;
  const TaskGraph& graph_;
  const Cluster& cluster_;
  std::vector<Transfer> gradients_;
  std::set<std::uint32_t> growing_;  // groups of copies
  std::set<std::uint32_t> stages_;   // groups that pass activations on
  std::set<std::uint32_t> experts_;  // groups whose tokens travel to experts
  std::uint32_t tensor_ = 1;         // ranks that share layers
  std::uint32_t recorded_ = 0;       // copies
  std::uint32_t copies_ = 0;
  double before_ = 0;
  double after_ = 0;
  std::size_t changing_ = 0;
  std::size_t unknown_ = 0;
};

}  // namespace

Result<std::string> regroup(Editor& editor, const Cluster& cluster, std::uint32_t ranks) {
  return Regrouper(editor, cluster, ranks).run();
}

Result<GrownGroups> grow_groups(Editor& editor, const Cluster& cluster, std::uint32_t copies) {
  return Grower(editor, cluster).run(copies);
}

}  // namespace foretrace::editing
