// Parameters of the model, counted from the shapes that its operators recorded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/annotate/annotate.h"
#include "trace/table/events.h"

namespace foretrace::trace {

/// A weight or buffer that an operator read.
struct ParameterTensor {
  EventId event{};  ///< the operator that reads it first
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
  bool is_buffer = false;    ///< running statistics: not trained
  bool may_be_tied = false;  ///< as large as an embedding: often the same tensor
};

struct ParameterEstimate {
  std::vector<ParameterTensor> tensors;  ///< in the order of use
  std::int64_t parameters = 0;           ///< elements, buffers left out
  std::int64_t parameter_bytes = 0;
  std::int64_t buffer_bytes = 0;
  std::int64_t tied_bytes = 0;  ///< of these, what may be counted twice
  std::string optimizer;        ///< "Adam", from Optimizer.step#Adam.step; empty if unknown
  /// States per parameter that this optimizer keeps for certain: Adam 2, RMSprop and Adagrad 1.
  std::int64_t states = 0;
  bool trains = false;              ///< the trace has a backward pass or an update
  bool is_exact = false;            ///< counted from recorded storages, not from shapes
  std::int64_t unplaced_bytes = 0;  ///< exact ones: as old as the model, and of no known use
};

/// What an argument of an operator is to the model.
enum class ModelArgument : std::uint8_t { unknown, data, weight, buffer };
/// unknown: the operator is not known to read a part of the model.
[[nodiscard]] ModelArgument model_argument(std::string_view operator_name, int position);

/// Counts the weights of convolutions, normalizations, products with a bias, embeddings and linear
/// layers over the first complete step (the whole trace if it has no steps), each module once. What
/// only other operators read is missed, tied weights count twice. Where a backward pass hands over
/// gradients of as many bytes or more, these are the parameters.
[[nodiscard]] ParameterEstimate estimate_parameters(const EventTable& events,
                                                    const Annotation& annotation);

}  // namespace foretrace::trace
