// Models that are no transformers, as operators per sample: convolutions, recurrent steps, tables.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/workloads/kernel_set.h"
#include "models/workloads/operator.h"
#include "sim/core/config.h"

namespace foretrace {

struct BatchShape;

enum class LayerKind : std::uint8_t {
  product,  ///< rows x inputs times inputs x outputs; a convolution as its implicit product
  norm,     ///< of all samples: two passes over its numbers
  map,      ///< number by number
  gather,   ///< rows of a table by index
};

/// One operator of a layer, for one sample.
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
};

/// Equal layers in a row.
struct LayerGroup {
  std::string name;
  std::uint32_t count = 1;
  std::vector<LayerOperator> operators;
};

struct LayeredSpec {
  std::vector<LayerGroup> groups;
  [[nodiscard]] std::uint32_t layers() const;
};

/// Reads "blocks" of a model file; mistakes are remembered in `fields`.
[[nodiscard]] LayeredSpec read_layered(ConfigFields& fields);

/// Blocks of one micro-batch of `batch.sequences` samples on one device.
[[nodiscard]] Workload build_layered(const LayeredSpec& spec, const BatchShape& batch,
                                     const KernelSet& kernels);

}  // namespace foretrace
