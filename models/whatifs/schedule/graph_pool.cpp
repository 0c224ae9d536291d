// Tensors of a device in the order of the program; those that are live at the peak stay.
#include "models/whatifs/schedule/graph_pool.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sim/edit/tensors.h"

namespace foretrace::editing {
namespace {

/// One comes or goes.
struct Moment {
  std::tuple<TaskId, std::int64_t, std::uint32_t, bool> at;  // the earlier, the less
  std::size_t tensor = 0;
};

std::vector<Moment> moments_of(const std::vector<Tensor>& all,
                               const std::vector<std::size_t>& tensors) {
  std::vector<Moment> moments;
  for (const std::size_t i : tensors) {
    const Tensor& one = all[i];
    moments.push_back(
        {{one.allocated_in, -one.allocated_offset_ns, one.allocated_sequence, true}, i});
    if (one.freed_in == none<TaskId>) continue;  // it stays
    // What has no lifetime goes after it came, where others go first.
    const std::uint32_t sequence = one.freed_sequence + (is_freed_at_once(one) ? 1 : 0);
    moments.push_back({{one.freed_in, -one.freed_offset_ns, sequence, false}, i});
  }
  std::stable_sort(moments.begin(), moments.end(),
                   [](const Moment& a, const Moment& b) { return a.at < b.at; });
  return moments;
}

/// Those that are live when most bytes are, in the order of the graph's tensors.
std::vector<std::size_t> live_at_peak(const std::vector<Tensor>& all,
                                      const std::vector<std::size_t>& tensors) {
  const std::vector<Moment> moments = moments_of(all, tensors);
  std::int64_t live = 0;
  std::int64_t most = 0;
  std::size_t peak = 0;
  for (std::size_t m = 0; m < moments.size(); ++m) {
    live +=
        std::get<3>(moments[m].at) ? all[moments[m].tensor].bytes : -all[moments[m].tensor].bytes;
    if (live <= most) continue;
    most = live;
    peak = m + 1;
  }
  std::vector<bool> is_live(all.size(), false);
  for (std::size_t m = 0; m < peak; ++m) {
    is_live[moments[m].tensor] = std::get<3>(moments[m].at);
  }
  std::vector<std::size_t> kept;
  std::copy_if(tensors.begin(), tensors.end(), std::back_inserter(kept),
               [&](std::size_t i) { return is_live[i]; });
  return kept;
}

}  // namespace

void GraphPool::capture(std::span<const TaskId> calls) {
  for (const TaskId call : calls) inside_[index(call)] = true;
}

bool GraphPool::is_inside(const Tensor& tensor) const {
  return tensor.bytes > 0 && tensor.allocated_in != none<TaskId> &&
         inside_[index(tensor.allocated_in)];
}

std::string GraphPool::edit() {
  const TaskGraph& graph = editor_.graph();
  const std::vector<Tensor>& all = graph.context().tensors;
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<std::size_t>> of_device;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!is_inside(all[i])) continue;
    of_device[{graph.lane(all[i].allocated_in).rank, all[i].device}].push_back(i);
  }
  if (of_device.empty()) return {};
  TensorEditor edits(editor_);
  std::size_t count = 0;
  std::int64_t bytes = 0;
  for (const auto& [device, tensors] : of_device) {
    for (const std::size_t i : live_at_peak(all, tensors)) {
      Tensor kept = all[i];
      kept.rank = device.first;
      kept.allocated_in = kept.freed_in = none<TaskId>;
      edits.add(kept, static_cast<double>(kept.bytes), graph.names()[kept.operator_name]);
      bytes += kept.bytes;
    }
    for (const std::size_t i : tensors) edits.drop(i);
    count += tensors.size();
  }
  return fmt::format("; {} tensors of the graphs share {:.1f} MiB, which stay allocated", count,
                     static_cast<double>(bytes) / 0x1p20);
}

}  // namespace foretrace::editing
