// Device tensors of a trace that recorded no memory, from the shapes of its operators.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "trace/annotate/annotate.h"
#include "trace/table/events.h"

namespace foretrace::trace {

struct ShapeTensors {
  /// As a recording of memory would have them, with made-up addresses and without totals. Sorted by
  /// time.
  std::vector<MemoryEvent> memory;
  std::size_t operators = 0;      ///< that launch device work and have shapes recorded
  std::size_t unknown = 0;        ///< of these, what they make is not known
  std::size_t kernels = 0;        ///< of the trace
  std::size_t known_kernels = 0;  ///< of these, in operators of which it is known what they make
  std::vector<std::pair<std::string, std::size_t>> unknown_names;  ///< most frequent first
};

/// Walks the operators that launch device work in host order. What an operator makes follows from
/// its name and shapes (result_shapes), from the size of the gradient that its autograd node gets,
/// or from the arguments of aten::empty. Traces do not name tensors, so an argument is the newest
/// tensor of its sizes and type; in a backward pass what the forward operator of the same sequence
/// number read or made comes first. A tensor goes when the operator returns that uses it last;
/// gradients of parameters stay until they are cleared. Tensors from before the window, scratch
/// space of libraries and what a program holds for longer than it uses are not seen. Empty where a
/// backward pass has neither sequence numbers nor flows.
[[nodiscard]] ShapeTensors tensors_from_shapes(const EventTable& events,
                                               const Annotation& annotation);

}  // namespace foretrace::trace
