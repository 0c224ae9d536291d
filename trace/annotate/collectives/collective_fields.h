// What the arguments of a collective's kernel and of the host events around its launch tell.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/annotate/collectives/collectives.h"
#include "trace/table/events.h"

namespace foretrace::trace {

/// Fields of one set of arguments; -1, 0 or empty where not recorded.
struct CollectiveFields {
  CollectiveKind kind = CollectiveKind::none;  ///< "Collective name"
  bool is_wait = false;                        ///< marks the end of a call, not a collective
  std::int64_t in_bytes = -1;
  std::int64_t out_bytes = -1;
  std::uint8_t element_bytes = 0;
  std::int64_t sequence = -1;
  std::string group;    ///< process group name
  std::string pointer;  ///< process group address
  std::uint32_t group_size = 0;
  std::vector<std::int32_t> ranks;
  std::int32_t source = -1;  ///< of a send or receive
  std::int32_t target = -1;
};

/// Bytes of one element: "Float", "c10::BFloat16", "unsigned char"; 0 unknown.
[[nodiscard]] std::uint8_t bytes_of_type(std::string_view type);

/// Of a kernel or of a record_param_comms event.
[[nodiscard]] CollectiveFields fields_of(const NameTable& names, const Descriptor& arguments);
/// Bytes of all tensors that an annotation lists as inputs.
[[nodiscard]] std::int64_t annotated_bytes(const NameTable& names, const Descriptor& arguments,
                                           std::uint8_t& element_bytes);

}  // namespace foretrace::trace
