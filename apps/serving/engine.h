// Serving engine: how a library forms the steps of a served language model, read from
// configs/serving.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/catalogue/sources.h"
#include "models/hardware/networks/cluster.h"
#include "sim/core/config.h"
#include "sim/core/result.h"

namespace foretrace {

/// What decides which tokens are computed in one step.
struct StepRules {
  std::uint32_t batched_tokens = 2048;  ///< of a step at most
  std::uint32_t sequences = 256;        ///< in flight at most
  std::uint32_t block_tokens = 16;      ///< of the cache
  bool chunks_prompts = true;           ///< a prompt may be spread over several steps
  bool mixes = true;  ///< prompts beside writing sequences; else steps of prompts come first
  bool keeps_prefixes = true;  ///< common beginnings are computed once
  /// A request starts where the cache has room for this share of what it and all others in flight
  /// have yet to write: at 1 nobody is ever put back.
  double reserved_output = 0;
};

/// What an engine's share of memory is of.
enum class CacheShare : std::uint8_t {
  device,   ///< all that the device has, for all that the engine needs
  weights,  ///< what the driver leaves, for weights and cache; steps take from the others
  rest,     ///< what weights and steps leave, for the cache
};

struct ServingEngine {
  std::string name;       ///< file stem
  std::string product;    ///< for people
  std::string framework;  ///< kernels: a file of configs/frameworks
  StepRules rules;
  double large_memory = 0;  ///< devices from this size on have rules of their own; 0: none
  std::vector<std::string> large_except;  ///< accelerators that keep the usual rules all the same
  std::uint32_t large_batched_tokens = 0;
  std::uint32_t large_sequences = 0;
  double memory_share = 0.9;
  CacheShare memory_share_of = CacheShare::device;
  bool cache_follows_weights = false;  ///< 8-bit weights come with an 8-bit cache
  Ranged host_step_ns{0, 0, 0};        ///< of a step that the device waits for the host
  Ranged host_sequence_ns{0, 0, 0};    ///< the same, for each sequence of the step
  /// From a client to the engine and back, beside its steps: the protocol, turning text into tokens
  /// and tokens into text. Requests do not wait for each other there.
  Ranged host_request_ns{0, 0, 0};
  /// Of every token on its way to its client, in one process that takes them one after the other;
  /// the device does not wait for it.
  Ranged host_token_ns{0, 0, 0};
  /// Fixed time of an all-reduce in one kernel, in which every rank reads the buffers of all others
  /// over the links of the node; 0: the engine has none.
  Ranged one_shot_ns{0, 0, 0};
  /// Queries of one head that a tile of attention holds, where a step of prompts and writers is one
  /// kernel that does not pack heads; and the devices with that kernel, by the first number of
  /// their compute capability. 0: no such kernel.
  std::uint32_t query_tile = 0;
  std::vector<std::string> tile_capabilities;
  FigureSources sources;

  [[nodiscard]] std::uint32_t query_tile_on(const Accelerator& accelerator) const;
  [[nodiscard]] StepRules rules_on(const Accelerator& accelerator) const;
};

[[nodiscard]] Result<ServingEngine> find_serving_engine(const Catalogue& catalogue,
                                                        std::string_view name);
[[nodiscard]] Result<ServingEngine> parse_serving_engine(std::string_view text,
                                                         const std::string& where);
[[nodiscard]] std::vector<std::string> serving_engine_names(const Catalogue& catalogue);

/// Keys of an object that it has replace rules; those that it lacks stay.
[[nodiscard]] Status read_step_rules(ConfigFields& fields, StepRules& rules);

}  // namespace foretrace
