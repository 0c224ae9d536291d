// What the category of an event says about its kind; categories changed their names twice.
#pragma once

#include <cstdint>
#include <string_view>

#include "trace/table/events.h"

namespace foretrace::trace::formats {

enum class Category : std::uint8_t {
  cpu_op,
  operator_or_annotation,  ///< before 2022 both had one category: the name tells them apart
  user_annotation,
  runtime,
  python_function,
  overhead,
  kernel,
  copy,
  set,
  gpu_annotation,
  sync,          ///< cuda_sync records
  forward_flow,  ///< forward -> backward arrows
  other
};

[[nodiscard]] Category category_of(std::string_view text);
/// True if the text of a trace has events in a category that PyTorch's profiler writes.
[[nodiscard]] bool has_profiler_category(std::string_view text);
/// Tells annotations from operators where the category does not.
[[nodiscard]] bool names_annotation(std::string_view name);
/// The row kind; sync and forward_flow are no rows and give `other`.
[[nodiscard]] EventKind kind_of(Category category);
[[nodiscard]] SyncKind sync_kind_of(std::string_view name);

}  // namespace foretrace::trace::formats
