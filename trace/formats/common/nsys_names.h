// How Nsight Systems names calls, copies and ranges, in the words the rest of the program knows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/table/events.h"

namespace foretrace::trace::formats {

/// "cudaLaunchKernel_v7000" -> "cudaLaunchKernel", "cudaMemcpyAsync_ptsz_v7000" likewise.
/// "cuMemFree_v2" stays: that is its name.
[[nodiscard]] std::string_view plain_api_name(std::string_view name);

/// "Memcpy HtoD (Pinned -> Device)" from copyKind, srcKind and dstKind (-1: not recorded).
[[nodiscard]] std::string copy_name(std::int64_t kind, std::int64_t source, std::int64_t target);
/// "Memset (Device)" from memKind.
[[nodiscard]] std::string set_name(std::int64_t kind);
/// The name that PyTorch's profiler gives to an overhead of this CUPTI type; empty if unknown.
[[nodiscard]] std::string_view overhead_name(std::int64_t type);

/// What a synchronizing call waits for, by its name.
[[nodiscard]] SyncKind sync_kind_of_call(std::string_view api);
/// The same from CUPTI's number of a synchronization record.
[[nodiscard]] SyncKind sync_kind_of_type(std::int64_t type);

/// A range that PyTorch's emit_nvtx wrote: "aten::mm, seq = 12, op_id = 45, sizes = [[2, 3], []]".
struct NvtxOperator {
  std::string_view name;     ///< the whole text if it is none of these
  std::int64_t number = -1;  ///< seq; -1: none
  std::string_view sizes;    ///< JSON
  bool is_operator = false;  ///< and no range of the user
};
[[nodiscard]] NvtxOperator parse_nvtx(std::string_view text);

}  // namespace foretrace::trace::formats
