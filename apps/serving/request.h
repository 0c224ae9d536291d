// Requests to a served language model, and what became of them.
#pragma once

#include <cstdint>

namespace foretrace {

struct ServingRequest {
  std::int64_t arrival_ns = 0;
  std::int64_t input_tokens = 1;
  std::int64_t output_tokens = 1;
  /// Requests of one group begin with the same tokens; -1: nobody shares its beginning.
  std::int64_t prefix_group = -1;
  std::int64_t prefix_tokens = 0;  ///< of the input, that the group has in common
};

struct ServedRequest {
  std::int64_t arrival_ns = 0;
  std::int64_t reached_ns = 0;       ///< from then on it may be scheduled
  std::int64_t scheduled_ns = -1;    ///< first step that computes some of it
  std::int64_t first_token_ns = -1;  ///< end of the step that gives its first token
  std::int64_t end_ns = -1;          ///< end of the step that gives its last one
  std::int64_t cached_tokens = 0;    ///< of the input, found in the cache
  std::int32_t preemptions = 0;      ///< times it was put back and computed again
  bool refused = false;              ///< it can never fit in the cache

  [[nodiscard]] std::int64_t first_token_after_ns() const { return first_token_ns - arrival_ns; }
  [[nodiscard]] std::int64_t latency_ns() const { return end_ns - arrival_ns; }
  /// Mean time of every token after the first; 0 where there is only one.
  [[nodiscard]] double token_ns(std::int64_t output_tokens) const {
    return output_tokens > 1 ? static_cast<double>(end_ns - first_token_ns) /
                                   static_cast<double>(output_tokens - 1)
                             : 0;
  }
};

}  // namespace foretrace
