// What was asked for, where the recorded size is that of the block that was handed out.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/annotate/tensors/tensor_lifetimes.h"
#include "trace/annotate/tensors/tensor_owners.h"
#include "trace/table/events.h"

namespace foretrace::trace {

/// Bytes that a factory operator (aten::empty, aten::empty_strided) asked for, from its recorded
/// arguments; -1 if they are not recorded or do not fit the block.
[[nodiscard]] std::int64_t requested_bytes(const EventTable& events, EventId factory,
                                           std::int64_t block_bytes);

/// Fills in requests that no argument tells: of the blocks that one kind of operator call takes,
/// those larger by at most 1 MiB (what the allocator does not split off) held the most usual size.
void undo_tails(const EventTable& events, const TensorLifetimes& lifetimes,
                std::vector<TensorOwner>& owners);

}  // namespace foretrace::trace
