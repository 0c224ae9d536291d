// Runs the caching allocator as a fresh process would.
#include "apps/session/memory/reserved_range.h"

#include <algorithm>
#include <vector>

namespace foretrace {
namespace {

/// Blocks that a process has before its first step, in the order in which it asks for them.
std::vector<std::int64_t> seeds_of(const trace::ParameterEstimate& model) {
  std::vector<std::int64_t> seeds;
  for (const trace::ParameterTensor& tensor : model.tensors) {
    if (!tensor.may_be_tied) seeds.push_back(tensor.bytes);
  }
  if (model.trains) {
    for (const trace::ParameterTensor& tensor : model.tensors) {
      for (std::int64_t i = 0; i < model.states && !tensor.is_buffer && !tensor.may_be_tied; ++i) {
        seeds.push_back(tensor.bytes);
      }
    }
  }
  return seeds;
}

AllocatorReplay fresh_process(const MemoryInputs& inputs, const MemoryCurve& curve) {
  const std::vector<std::int64_t> seeds = seeds_of(inputs.built.parameters);
  const ReplayOptions options{.settings = inputs.settings, .seeds = seeds};
  return replay_allocator(allocator_program(inputs.graph, curve), options);
}

const trace::DeviceMemory* facts_of(const trace::BuiltGraph& built, const MemoryCurve& curve) {
  const auto found =
      std::find_if(built.memory.begin(), built.memory.end(), [&](const trace::DeviceMemory& m) {
        return m.rank == curve.rank && m.graph_device == curve.device;
      });
  return found == built.memory.end() ? nullptr : &*found;
}

}  // namespace

std::int64_t fresh_reserved_bytes(const MemoryInputs& inputs, const MemoryCurve& curve) {
  return fresh_process(inputs, curve).use.peak_reserved_bytes;
}

ReservedRange reserved_range(const MemoryInputs& inputs, const MemoryCurve& recorded,
                             const MemoryCurve& curve) {
  // What was recorded was so with the usual settings, whatever others are asked about.
  const MemoryInputs before{inputs.built, inputs.built.graph};
  return reserved_range(inputs, fresh_reserved_bytes(before, recorded), curve);
}

ReservedRange reserved_range(const MemoryInputs& inputs, std::int64_t fresh_bytes_before,
                             const MemoryCurve& curve) {
  const AllocatorReplay replay = fresh_process(inputs, curve);
  ReservedRange range;
  range.fresh_bytes = replay.use.peak_reserved_bytes;
  range.fragmentation = replay.fragmentation;
  range.retries = replay.use.retries;
  if (const auto* const facts = facts_of(inputs.built, curve)) {
    range.recorded_bytes = facts->peak_reserved_bytes;
  }
  const std::int64_t history =
      range.recorded_bytes < 0 ? 0 : range.recorded_bytes - fresh_bytes_before;
  range.low_bytes = curve.peak_bytes;
  range.high_bytes = range.fresh_bytes + std::max<std::int64_t>(0, history);
  // How far an earlier life broke up memory says little of other settings: it stays in the range.
  const bool is_as_recorded = inputs.settings == AllocatorSettings{};
  range.expected_bytes =
      std::max(range.low_bytes, range.fresh_bytes + (is_as_recorded ? history : 0));
  return range;
}

}  // namespace foretrace
