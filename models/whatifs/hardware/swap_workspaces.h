// Tensor edits of a move to another accelerator: the same tensors, other workspaces of libraries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "models/hardware/catalogue/memory_profile.h"
#include "sim/edit/editor.h"

namespace foretrace {

/// What was exchanged, for the notes of a what-if.
struct WorkspaceSwap {
  std::int64_t persistent_before = 0;
  std::int64_t persistent_after = 0;
  std::size_t edited = 0;  ///< workspaces of calls that get another size
  std::size_t added = 0;   ///< calls that get one
};

/// Workspaces within calls get the size of the other libraries or go; calls whose operators take
/// one only there get one while they launch. Persistent ones count once per host thread and stream
/// that runs their operators. Nothing if the graph has no tensors.
WorkspaceSwap swap_workspaces(Editor& editor, const MemoryProfile& from, const MemoryProfile& to);

/// The same; says what changed, nothing if one of the profiles is not known or nothing does.
[[nodiscard]] std::string move_workspaces(Editor& editor, const MemoryProfile& from,
                                          const MemoryProfile& to);

}  // namespace foretrace
