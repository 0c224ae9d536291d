// Kernels beside transfers: encoding on the stream that makes the data, decoding on the one that
// uses them; and the parameters of links that its users share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/transfers/transfers.h"
#include "sim/core/params.h"

namespace foretrace::editing {

inline constexpr ParamInfo latency_param = {
    .name = "latency",
    .type = ParamType::time,
    .unit = "us",
    .default_text = "20 us",
    .doc = "Latency of a transfer: the part that does not depend on its bytes.",
    .minimum = 0,
    .maximum = 1e9};
inline constexpr ParamInfo link_bandwidth_param = {
    .name = "link_bandwidth",
    .type = ParamType::bandwidth,
    .unit = "GB/s",
    .default_text = "0 GB/s",
    .doc =
        "Bandwidth of a rank, from which bytes follow where the trace contains none; 0: unknown.",
    .minimum = 0,
    .maximum = 1e15};

}  // namespace foretrace::editing

namespace foretrace {

/// Puts them in where the maker, or the user, of a transfer's data is recorded: the kernel that the
/// collective waits for, the first kernel of another stream that waits for the collective.
class CodecKernels {
 public:
  CodecKernels(editing::KernelEditor& editor, const std::vector<editing::Transfer>& transfers);

  /// A kernel behind the maker that moves so many bytes of device memory; the transfer waits for
  /// it.
  [[nodiscard]] Status encode(const editing::Transfer& transfer, double bytes,
                              std::string_view name);
  /// One before the user, which waits for the transfer.
  [[nodiscard]] Status decode(const editing::Transfer& transfer, double bytes,
                              std::string_view name);

  [[nodiscard]] std::size_t encoders() const { return encoders_; }
  [[nodiscard]] std::size_t decoders() const { return decoders_; }
  [[nodiscard]] std::int64_t ns() const { return ns_; }

 private:
  [[nodiscard]] TaskId maker(TaskId arrival) const;

  editing::KernelEditor& editor_;
  std::map<TaskId, TaskId> user_;
  std::size_t encoders_ = 0;
  std::size_t decoders_ = 0;
  std::int64_t ns_ = 0;
};

/// Bytes of the buffer, or those that a link of this rate moves in the time; 0: nothing tells.
[[nodiscard]] double transferred_bytes(const TaskGraph& graph, TaskId transfer,
                                       std::int64_t moving_ns, double link_bandwidth);

/// "; 1.20 ms of these are waiting for ranks that are not recorded, ..., and stay"; nothing for 0.
[[nodiscard]] std::string waiting_note(std::int64_t waited_ns);

}  // namespace foretrace
