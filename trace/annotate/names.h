// What the name of an event says about phase and module, decided once per distinct name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/annotate/annotate.h"

namespace foretrace::trace {

/// What one name says.
struct NameMeaning {
  Phase phase = Phase::unknown;
  PhaseEvidence evidence = PhaseEvidence::none;
  bool is_step = false;  ///< ProfilerStep#N
  bool is_autograd_node = false;
  bool accumulates = false;       ///< autograd node that adds into a parameter's gradient
  bool is_on_list = false;        ///< takes lists of tensors: an update if anything trains
  bool is_no_forward = false;     ///< clears gradients or hands memory to a stream
  bool updates_in_place = false;  ///< in-place arithmetic, as loops over parameters do
  bool reads_back = false;        ///< brings a value to the host
  bool is_composite = false;      ///< an operator that calls operators: is of one phase as a whole
};

[[nodiscard]] NameMeaning meaning_of_operator(std::string_view name);
[[nodiscard]] NameMeaning meaning_of_annotation(std::string_view name);
[[nodiscard]] NameMeaning meaning_of_frame(std::string_view name);

/// True for kernels that communicate with other devices: of NCCL and RCCL, and those that initiate
/// it themselves (DeepEP, NVSHMEM, symmetric memory, MSCCL++, custom all-reduces).
[[nodiscard]] bool is_collective_kernel(std::string_view name);

/// The phase that words like "forward", "bwd", "zero_grad", "load_batch" name; unknown if none or
/// if they name two.
[[nodiscard]] Phase phase_of_words(std::string_view text);

/// The module that an event's name names, outer parts separated by '/'; empty if none:
/// "nn.Module: Conv2d_0", "## forward:over_arch ##", "layer1.0.conv2".
[[nodiscard]] std::string module_of(EventKind kind, std::string_view name);

/// Number of a "ProfilerStep#N"; -1 if it has none.
[[nodiscard]] std::int64_t step_number(std::string_view name);

/// Meanings by name, worked out at first use.
class NameMeanings {
 public:
  explicit NameMeanings(const EventTable& events);
  [[nodiscard]] NameMeaning operator()(EventId event);

 private:
  const EventTable* events_;
  std::vector<NameMeaning> meanings_;     // no name first, then as met
  std::vector<std::uint32_t> operators_;  // per name: index of meanings_, 0 not yet known
  std::vector<std::uint32_t> annotations_;
  std::vector<std::uint32_t> frames_;
};

}  // namespace foretrace::trace
