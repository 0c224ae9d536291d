#include "models/editing/tensors/saved_cut.h"

#include <algorithm>
#include <set>

#include "models/editing/tensors/max_flow.h"

namespace foretrace::editing {
namespace {

class Cut {
 public:
  Cut(const TaskGraph& graph, const TensorUses& uses,
      const std::function<bool(const OperatorRun&)>& is_cheap)
      : graph_(graph), uses_(uses), is_cheap_(is_cheap), tensors_(graph.context().tensors) {}

  SavedCut run() {
    MaxFlow flow(2 * tensors_.size() + 2);
    const std::size_t source = 2 * tensors_.size();
    const std::size_t sink = source + 1;
    SavedCut cut;
    std::vector<TensorId> open;
    std::set<TensorId> seen;
    const auto reach = [&](TensorId tensor) {
      if (seen.insert(tensor).second) open.push_back(tensor);
    };
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const auto tensor = make_id<TensorId>(i);
      if (!is_kept(tensor)) continue;
      cut.kept_bytes += static_cast<double>(tensors_[i].bytes);
      flow.add_edge(2 * i + 1, sink, MaxFlow::unlimited);
      reach(tensor);
    }
    // NOLINTNEXTLINE(modernize-loop-convert): reach() makes the list longer
    for (std::size_t at = 0; at < open.size(); ++at) {
      const std::size_t i = index(open[at]);
      flow.add_edge(2 * i, 2 * i + 1, price(open[at]));
      if (!can_repeat(open[at])) {
        flow.add_edge(source, 2 * i, MaxFlow::unlimited);
        continue;
      }
      for (const TensorId from : uses_.making(open[at]).from) {
        reach(from);
        flow.add_edge(2 * index(from) + 1, 2 * i, MaxFlow::unlimited);
      }
    }
    // Where a map can only be made from what nobody keeps, nothing is gained.
    if (flow.run(source, sink) >= MaxFlow::unlimited) return {};
    take(flow.source_side(), open, cut);
    return cut;
  }

 private:
  [[nodiscard]] Phase phase_of(std::uint32_t run) const {
    return graph_.phase(uses_.runs()[run].launches.front());
  }

  /// Made in a forward pass, read and freed in a backward pass.
  [[nodiscard]] bool is_kept(TensorId tensor) const {
    const TensorMaking& making = uses_.making(tensor);
    const Tensor& known = tensors_[index(tensor)];
    if (making.runs.empty() || known.freed_in == none<TaskId> || !making.is_use_known) return false;
    return phase_of(making.runs.front()) == Phase::forward &&
           phase_of(making.uses.back()) == Phase::backward &&
           (known.category == TensorCategory::activation ||
            known.category == TensorCategory::temporary);
  }

  /// By cheap runs of the forward pass, from something recorded.
  [[nodiscard]] bool can_repeat(TensorId tensor) const {
    const TensorMaking& making = uses_.making(tensor);
    return making.can_repeat && !making.from.empty() &&
           std::all_of(making.runs.begin(), making.runs.end(), [&](std::uint32_t run) {
             return phase_of(run) == Phase::forward && is_cheap_(uses_.runs()[run]);
           });
  }

  /// What keeping it costs: nothing where it is there anyway; nobody keeps more than as recorded.
  [[nodiscard]] std::int64_t price(TensorId tensor) const {
    const Tensor& known = tensors_[index(tensor)];
    if (is_kept(tensor)) return known.bytes;
    const bool stays = known.freed_in == none<TaskId> || known.category == TensorCategory::weight ||
                       known.category == TensorCategory::input ||
                       graph_.phase(known.freed_in) == Phase::backward ||
                       graph_.phase(known.freed_in) == Phase::update;
    return stays ? 0 : MaxFlow::unlimited;
  }

  void take(const std::vector<bool>& side, std::vector<TensorId>& reached, SavedCut& cut) const {
    std::sort(reached.begin(), reached.end());
    std::set<std::uint32_t> again;
    for (const TensorId tensor : reached) {
      const std::size_t i = index(tensor);
      const bool saved = side[2 * i] && !side[2 * i + 1];
      if (saved && is_kept(tensor)) cut.saved_bytes += static_cast<double>(tensors_[i].bytes);
      if (side[2 * i]) continue;  // it is there: saved, or made from in front of the cut
      const auto& runs = uses_.making(tensor).runs;
      again.insert(runs.begin(), runs.end());
      if (is_kept(tensor)) cut.dropped.push_back(tensor);
    }
    cut.again.assign(again.begin(), again.end());
  }

  const TaskGraph& graph_;
  const TensorUses& uses_;
  const std::function<bool(const OperatorRun&)>& is_cheap_;
  const std::vector<Tensor>& tensors_;
};

}  // namespace

SavedCut choose_saved(const TaskGraph& graph, const TensorUses& uses,
                      const std::function<bool(const OperatorRun&)>& is_cheap) {
  return Cut(graph, uses, is_cheap).run();
}

}  // namespace foretrace::editing
