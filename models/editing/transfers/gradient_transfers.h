// Collectives that carry gradients, for what-ifs that make gradients smaller.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/editing/transfers/transfers.h"
#include "sim/edit/editor.h"

namespace foretrace::editing {

/// Of each collective, that of the kernel before it on its rank, in program order; unknown before
/// the first one.
[[nodiscard]] std::map<TaskId, Phase> phases_of_collectives(const TaskGraph& graph);

/// All-reduces and reduce-scatters of a training run's gradients: those of 64 KiB and more that
/// start after a kernel of the backward pass, in groups that do not split layers; of these groups
/// all reduce-scatters. In program order.
[[nodiscard]] std::vector<Transfer> find_gradient_transfers(const TaskGraph& graph);
/// Those that carry activations and their gradients, in groups that split layers.
[[nodiscard]] std::vector<Transfer> find_activation_transfers(const TaskGraph& graph);

/// Of the numbers that a collective adds up, by its precision or its name; unknown if neither
/// tells.
[[nodiscard]] Precision summed_precision(const TaskGraph& graph, TaskId transfer);

struct ShrunkTransfers {
  std::size_t count = 0;
  std::int64_t before_ns = 0;
  std::int64_t after_ns = 0;
  void add(const ShrunkTransfers& other) {
    count += other.count;
    before_ns += other.before_ns;
    after_ns += other.after_ns;
  }
  /// "; 12 transfers of gradients 3.40 ms -> 2.10 ms", or nothing.
  [[nodiscard]] std::string note(std::string_view of) const;
};
/// These transfers move `share` of their bytes: waiting and a latency stay, the rest follows.
[[nodiscard]] ShrunkTransfers shrink(Editor& editor, const std::vector<Transfer>& transfers,
                                     double share);

}  // namespace foretrace::editing
