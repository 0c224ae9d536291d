// Queries to the SubNets of a weight-shared network on an accelerator that keeps some weights on
// chip, and a scheduler that chooses the SubNet of every query and what is kept.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace foretrace::streams {

/// A layer of a SubNet on the accelerator.
struct SubNetLayer {
  std::int64_t compute_ns = 0;
  double weight_bytes = 0;
  double activation_bytes = 0;  ///< in and out
};
struct SubNet {
  std::string name;
  double accuracy = 0;
  /// As many for every SubNet. Weights are shared: a smaller layer is a part of a larger one.
  std::vector<SubNetLayer> layers;
};

/// What a query asks for: the most accurate SubNet within a latency, or the fastest that is
/// accurate enough.
struct QueryWish {
  double share = 1;             ///< of the queries
  std::int64_t latency_ns = 0;  ///< above 0: a bound of the accelerator's time
  double accuracy = 0;          ///< otherwise: the least that is accepted
};

struct SuperNet {
  std::vector<SubNet> subnets;
  double bytes_per_s = 1;   ///< of memory off the chip
  double buffer_bytes = 0;  ///< for weights that stay
  std::vector<QueryWish> wishes;
  std::int64_t queries = 1000;
  double per_second = 0;           ///< arrivals at random; 0: one behind the other
  std::int64_t update_every = 16;  ///< queries until what is kept is chosen again
  std::uint64_t seed = 0;
};

struct SuperNetFigures {
  std::int64_t queries = 0;
  double accuracy = 0;           ///< mean of what was served
  std::int64_t kept_wishes = 0;  ///< queries served within their bound
  double service_ns = 0;         ///< mean time on the accelerator
  std::int64_t p99_service_ns = 0;
  double latency_ns = 0;    ///< mean, with the time in the queue
  double weight_bytes = 0;  ///< read for queries, from memory
  double update_bytes = 0;  ///< read to change what is kept
  double activation_bytes = 0;
  std::int64_t updates = 0;            ///< that changed something
  std::vector<std::int64_t> served{};  ///< queries by SubNet
};

/// Bytes of each layer that are kept.
using KeptWeights = std::vector<double>;
/// Sum over layers of the longer of arithmetic and memory: weights that are not kept, activations.
[[nodiscard]] std::int64_t subnet_time_ns(const SubNet& subnet, const KeptWeights& kept,
                                          double bytes_per_s);
/// The weights of a SubNet as far as they fit, layer after layer.
[[nodiscard]] KeptWeights kept_of(const SubNet& subnet, double buffer_bytes);

[[nodiscard]] SuperNetFigures run_supernet(const SuperNet& net);

}  // namespace foretrace::streams
