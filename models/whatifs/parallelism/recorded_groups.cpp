#include "models/whatifs/parallelism/recorded_groups.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "models/whatifs/parallelism/machine.h"
#include "sim/core/whole.h"

namespace foretrace::editing {
namespace {

class Regrouper {
 public:
  Regrouper(Editor& editor, const Cluster& cluster, const RegroupOptions& options)
      : editor_(editor), graph_(editor.graph()), cluster_(cluster), options_(options) {
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
    if (grows() && shortest_used_ == transfers.size()) {
      return Error{
          ErrorCode::missing_cost,
          fmt::format(
              "unknown sizes of all {} collectives, so their time among more ranks is unknown, "
              "expected recorded sizes (PyTorch 2.3 or later) or a trace of one device",
              shortest_used_)};
    }
    std::string note = fmt::format("{} collectives {:.2f} ms -> {:.2f} ms on {}", transfers.size(),
                                   before_ * 1e-6, after_ * 1e-6, cluster_.machine);
    if (shortest_used_ > 0) {
      note += fmt::format("; {} whose size is not recorded {}", shortest_used_,
                          grows() ? "keep their time, waiting included"
                                  : "take the shortest time of the same place in other steps");
    }
    if (grows() && after_ < before_) {
      note +=
          "; what is gone is waiting for late ranks or a slower network, so that the samples can "
          "grow more than the ranks";
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

  [[nodiscard]] bool grows() const { return options_.growth > 1; }

  [[nodiscard]] std::uint32_t ranks_of(const Work& work) const {
    const auto& groups = graph_.context().communicators;
    const std::uint32_t size =
        work.communicator < groups.size() ? groups[work.communicator].size : 0;
    const std::uint32_t known = size > 0 ? size : std::max(options_.ranks, largest_);
    return to_count(known * options_.growth);
  }

  Status set(const Transfer& transfer) {
    const Work& work = graph_.work(transfer.task);
    before_ += static_cast<double>(graph_.duration_ns(transfer.task));
    const std::uint32_t ranks = ranks_of(work);
    const bool barrier = work.collective == CollectiveKind::barrier;
    if ((work.bytes < 0 && !barrier) || ranks < 2 || work.collective == CollectiveKind::none) {
      // Waiting is never the same in all steps: the shortest time has the least of it. More ranks
      // wait no less.
      const std::int64_t ns =
          grows() ? graph_.duration_ns(transfer.task) : shortest_.at(place_.at(transfer.task));
      editor_.set_duration(transfer.task, ns, {Provenance::scaled, 0.5F, 1.5F});
      after_ += static_cast<double>(ns);
      ++shortest_used_;
      return ok_status();
    }
    if (ranks > cluster_.accelerators()) {
      return Error{ErrorCode::no_match,
                   fmt::format("a group of {} ranks, expected at most the {} accelerators of {}",
                               ranks, cluster_.accelerators(), cluster_.name)};
    }
    CollectiveCall call;
    // A barrier adds up one number.
    call.kind = barrier ? CollectiveKind::all_reduce : work.collective;
    call.bytes = barrier ? 4 : static_cast<double>(work.bytes);
    call.group = place(cluster_, {ranks, 1});
    const TransferTime time = transfer_time(cluster_, call);
    editor_.set_duration(transfer.task, time.ns, time.trust);
    after_ += static_cast<double>(time.ns);
    return ok_status();
  }

  Editor& editor_;
  const TaskGraph& graph_;
  const Cluster& cluster_;
  const RegroupOptions& options_;
  std::uint32_t largest_ = 0;
  std::map<TaskId, PlaceInStep> place_;
  std::map<PlaceInStep, std::int64_t> shortest_;
  double before_ = 0;
  double after_ = 0;
  std::size_t shortest_used_ = 0;
};

}  // namespace

Result<std::string> regroup(Editor& editor, const Cluster& cluster, const RegroupOptions& options) {
  return Regrouper(editor, cluster, options).run();
}

}  // namespace foretrace::editing
