#include "models/hardware/memories/allocator_replay.h"

#include <algorithm>
#include <map>
#include <utility>

namespace foretrace {
namespace {

class Runner {
 public:
  Runner(const AllocatorProgram& program, const ReplayOptions& options)
      : program_(program),
        options_(options),
        allocator_(options.settings),
        blocks_(program.bytes.size(), none<BlockId>) {
    std::int64_t live = 0;
    std::int64_t most = 0;
    for (std::size_t i = 0; i < program.events.size(); ++i) {
      const AllocatorEvent& event = program.events[i];
      live += event.allocates ? program.bytes[event.tensor] : -program.bytes[event.tensor];
      if (live > most) {
        most = live;
        fullest_ = i;
      }
    }
  }

  AllocatorReplay run() {
    seed();
    for (const std::uint32_t tensor : program_.older) allocate(tensor);
    std::int64_t before = -1;
    while (result_.passes < std::max<std::size_t>(1, options_.most_passes) &&
           before != allocator_.use().reserved_bytes) {
      before = allocator_.use().reserved_bytes;
      if (result_.passes > 0) turn();
      pass();
      ++result_.passes;
    }
    result_.use = allocator_.use();
    return std::move(result_);
  }

 private:
  void seed() {
    std::int64_t rest = program_.persistent_bytes;
    for (const std::int64_t bytes : options_.seeds) {
      // Seeds are estimates: together they are never more than what was there.
      if (bytes <= 0 || allocator_.rounded(bytes) > rest) continue;
      const BlockId block = allocator_.allocate(bytes);
      if (block != none<BlockId>) rest -= allocator_.bytes_of(block);
    }
    if (rest > 0) {
      // Nobody frees it, so its id is of no use.
      [[maybe_unused]] const BlockId block = allocator_.allocate(rest);
    }
  }

  void allocate(std::uint32_t tensor) {
    const std::int64_t bytes = program_.bytes[tensor];
    if (bytes <= 0 || blocks_[tensor] != none<BlockId>) return;
    const std::size_t failed = allocator_.use().out_of_memory;
    blocks_[tensor] = allocator_.allocate(bytes, program_.stream[tensor]);
    if (failed == 0 && allocator_.use().out_of_memory > 0) result_.out_of_memory_at = tensor;
  }

  void free(std::uint32_t tensor) {
    if (blocks_[tensor] == none<BlockId>) return;
    allocator_.free(blocks_[tensor]);
    blocks_[tensor] = none<BlockId>;
  }

  void pass() {
    for (std::size_t i = 0; i < program_.events.size(); ++i) {
      const AllocatorEvent& event = program_.events[i];
      event.allocates ? allocate(event.tensor) : free(event.tensor);
      if (options_.keep_curve && result_.passes == 0) {
        result_.reserved.push_back(allocator_.use().reserved_bytes);
      }
      if (i == fullest_) result_.fragmentation = allocator_.fragmentation();
    }
  }

  /// The next window starts with what this one left: leftovers take the places of equal tensors
  /// that came before the window; others go.
  void turn() {
    std::map<std::int64_t, std::vector<std::uint32_t>> wanted;
    for (const std::uint32_t tensor : program_.older) {
      wanted[program_.bytes[tensor]].push_back(tensor);
    }
    std::vector<bool> is_older(program_.bytes.size(), false);
    for (const std::uint32_t tensor : program_.older) is_older[tensor] = true;
    for (std::uint32_t tensor = 0; tensor < blocks_.size(); ++tensor) {
      if (blocks_[tensor] == none<BlockId> || is_older[tensor]) continue;
      const auto place = wanted.find(program_.bytes[tensor]);
      while (place != wanted.end() && !place->second.empty() &&
             blocks_[place->second.back()] != none<BlockId>) {
        place->second.pop_back();
      }
      if (place != wanted.end() && !place->second.empty()) {
        std::swap(blocks_[place->second.back()], blocks_[tensor]);
        place->second.pop_back();
      } else {
        free(tensor);
      }
    }
    for (const std::uint32_t tensor : program_.older) allocate(tensor);
  }

  const AllocatorProgram& program_;
  const ReplayOptions& options_;
  CachingAllocator allocator_;
  std::vector<BlockId> blocks_;  // per tensor
  std::size_t fullest_ = 0;      // event after which most is live
  AllocatorReplay result_;
};

}  // namespace

AllocatorProgram allocator_program(const TaskGraph& graph, const MemoryCurve& curve) {
  const std::vector<Tensor>& tensors = graph.context().tensors;
  AllocatorProgram program;
  std::vector<std::uint32_t> number(tensors.size(), 0xFFFFFFFFU);
  std::map<LaneId, std::uint32_t> streams;
  const auto add = [&](TensorId id) {
    const Tensor& tensor = tensors[index(id)];
    std::uint32_t& n = number[index(id)];
    if (n == 0xFFFFFFFFU) {
      n = static_cast<std::uint32_t>(program.bytes.size());
      program.bytes.push_back(tensor.requested_bytes > 0 ? tensor.requested_bytes : tensor.bytes);
      std::uint32_t stream = 0;
      if (tensor.stream != none<LaneId>) {
        stream = streams.emplace(tensor.stream, static_cast<std::uint32_t>(streams.size()))
                     .first->second;
      }
      program.stream.push_back(stream);
    }
    return n;
  };
  for (const MemoryPoint& point : curve.points) {
    if (!point.allocates && number[index(point.tensor)] == 0xFFFFFFFFU) {
      program.older.push_back(add(point.tensor));
    }
    program.events.push_back({add(point.tensor), point.allocates});
  }
  program.persistent_bytes = curve.base_bytes;
  for (const std::uint32_t tensor : program.older) {
    program.persistent_bytes -= program.bytes[tensor];
  }
  program.persistent_bytes = std::max<std::int64_t>(0, program.persistent_bytes);
  return program;
}

AllocatorReplay replay_allocator(const AllocatorProgram& program, const ReplayOptions& options) {
  return Runner(program, options).run();
}

}  // namespace foretrace
