// How XLA's profiles name lines, calls and details, whether they are stored as protobuf or JSON.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "trace/table/events.h"

namespace foretrace::trace::formats {

/// "Stream #17(Kernel)" -> 17; -1 for lines that are derived from streams.
[[nodiscard]] std::int64_t stream_number(std::string_view line);
/// The number behind the prefix, as in "/device:GPU:3" or "/device:TPU:0 SparseCore 1".
[[nodiscard]] std::int64_t number_behind(std::string_view text, std::string_view prefix,
                                         std::int64_t fallback);
/// The number of a module's program, as in "jit_step(15917)"; -1: there is none.
[[nodiscard]] std::int64_t program_number(std::string_view module);
/// True for calls of CUDA, HIP and CUDA's driver.
[[nodiscard]] bool is_runtime_call(std::string_view name);
/// Copy, set or kernel, by the name of device work.
[[nodiscard]] EventKind kind_of_work(std::string_view name);
/// "MemcpyH2D" -> "Memcpy HtoD", as in traces of PyTorch; other names as they are.
[[nodiscard]] std::string plain_copy_name(std::string_view name);
/// As HLO writes it: "%fusion.1". Without the sign it would look like a module of that name.
[[nodiscard]] std::string instruction_name(std::string_view operation);

/// Texts of details: kernel_details "regs:32 static_shared:0 grid:16,1,1 block:512,1,1 ...",
/// memcpy_details "kind_src:host size:4096 ...", memset_details "num_bytes:64 ...".
struct XlaDetails {
  std::string_view kernel;
  std::string_view copy;
  std::string_view set;
};
/// Puts what the details say into the descriptor; the rest of it stays.
void apply(const XlaDetails& details, Descriptor& descriptor);

}  // namespace foretrace::trace::formats
