// Models that are no transformers, as operators per sample: convolutions, recurrent steps, tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/jobs/workloads/kernel_set.h"
#include "models/jobs/workloads/operator.h"
#include "sim/core/config.h"

namespace foretrace {

struct BatchShape;

enum class LayerKind : std::uint8_t {
  product,  ///< rows x inputs times inputs x outputs; a convolution as its implicit product
  norm,     ///< of all samples: two passes over its numbers
  map,      ///< number by number
  gather,   ///< rows of a table by index
  recorded  ///< times that another program measured or predicted
};

/// What a recorded layer sends. Its collectives stand behind the computation that they belong to.
struct RecordedExchanges {
  Exchange forward;         ///< waited for
  Exchange input_gradient;  ///< waited for at once, or behind the gradient of the weights
  Exchange gradients;       ///< of the weights: nothing but the end of the step waits for it
};

/// One operator of a layer, for one sample. A recorded one has a micro-batch as its sample.
struct LayerOperator {
  LayerKind kind = LayerKind::map;
  std::string name;
  double rows = 1;
  double inputs = 0;
  double outputs = 0;   ///< product and gather: per row
  double numbers = 0;   ///< norm and map
  double reads = 0;     ///< product: numbers of its input; a convolution uses each more than once
  double forward = 2;   ///< map: numbers moved per number
  double backward = 3;  ///< the same backward
  bool keeps = false;   ///< map: its input is needed backward
  double weights = 0;
  RecordedTimes recorded;       ///< recorded
  RecordedExchanges exchanges;  ///< the same
  double kept_numbers = 0;      ///< the same: kept for backward
  /// The same: what the layer before hands on; 0: as many as the layer keeps.
  double input_numbers = 0;
};

/// Equal layers in a row.
struct LayerGroup {
  std::string name;
  std::uint32_t count = 1;
  std::vector<LayerOperator> operators;
};

/// What a recording tells of the parameters of a layer group, on one rank.
struct RecordedWeights {
  double frozen = 0;              ///< without gradients, beside the weights of its operators
  std::vector<double> gradients;  ///< elements of each, in the order in which they are ready
};

/// Groups that a recording was made with, or made for; a size that it does not state is 0.
struct RecordedGroups {
  std::uint32_t tensor = 0;
  std::uint32_t expert = 0;
  std::uint32_t data = 0;
  double update_ns = 0;  ///< of the optimizer, per parameter; 0: the framework says what it costs
  std::vector<RecordedWeights> weights{};  ///< per layer group; empty: nothing is told
};

struct LayeredSpec {
  std::vector<LayerGroup> groups;
  /// In which the groups run, if not one after the other: positions in `groups`, with counts.
  std::vector<BlockRun> order;
  /// Another program's recording: its layers are divided already, all of one role.
  std::optional<RecordedGroups> recorded;
  [[nodiscard]] std::uint32_t layers() const;
};

/// Reads "blocks" of a model file; mistakes are remembered in `fields`.
[[nodiscard]] LayeredSpec read_layered(ConfigFields& fields);

/// Blocks of one micro-batch of `batch.sequences` samples on one device.
[[nodiscard]] Workload build_layered(const LayeredSpec& spec, const BatchShape& batch,
                                     const KernelSet& kernels);

}  // namespace foretrace
