#include "trace/formats/common/event_category.h"

#include <algorithm>
#include <array>

namespace foretrace::trace::formats {
namespace {

struct Known {
  std::string_view text;
  Category category;
};

using enum Category;
// Most frequent first. Capitalised names are of 2020-2022.
constexpr std::array known_categories = {
    Known{"cpu_op", Category::cpu_op},
    Known{"cuda_runtime", runtime},
    Known{"kernel", kernel},
    Known{"python_function", Category::python_function},
    Known{"fwdbwd", forward_flow},
    Known{"forward_backward", forward_flow},
    Known{"Operator", operator_or_annotation},
    Known{"Kernel", kernel},
    Known{"Runtime", runtime},
    Known{"gpu_memcpy", copy},
    Known{"gpu_memset", set},
    Known{"cuda_driver", runtime},
    Known{"user_annotation", Category::user_annotation},
    Known{"gpu_user_annotation", gpu_annotation},
    Known{"cuda_sync", sync},
    Known{"overhead", Category::overhead},
    Known{"Memcpy", copy},
    Known{"Memset", set},
    Known{"hip_runtime", runtime},
    Known{"hip_driver", runtime},
    Known{"xpu_runtime", runtime},
    Known{"xpu_driver", runtime},
    Known{"mtia_runtime", runtime},
    Known{"privateuse1_runtime", runtime},
    Known{"privateuse1_driver", runtime},
    Known{"concurrent_kernel", kernel},
};

constexpr std::array annotation_prefixes = {
    std::string_view("ProfilerStep#"),
    std::string_view("Optimizer.step#"),
    std::string_view("Optimizer.zero_grad#"),
    std::string_view("enumerate(DataLoader)#"),
    std::string_view("DistributedDataParallel.forward"),
};

}  // namespace

Category category_of(std::string_view text) {
  for (const Known& entry : known_categories) {
    if (entry.text == text) return entry.category;
  }
  return other;
}

bool has_profiler_category(std::string_view text) {
  constexpr std::string_view key = "\"cat\"";
  constexpr int enough = 256;  // events without a known one say that the trace is another's
  std::size_t at = text.find(key);
  for (int i = 0; i < enough && at != std::string_view::npos; ++i) {
    const std::size_t start = text.find('"', at + key.size());
    const std::size_t end = start == std::string_view::npos ? start : text.find('"', start + 1);
    if (end == std::string_view::npos) return false;
    if (category_of(text.substr(start + 1, end - start - 1)) != other) return true;
    at = text.find(key, end);
  }
  return false;
}

bool names_annotation(std::string_view name) {
  return std::ranges::any_of(annotation_prefixes,
                             [name](std::string_view prefix) { return name.starts_with(prefix); });
}

EventKind kind_of(Category category) {
  switch (category) {
    case Category::cpu_op:
    case operator_or_annotation: return EventKind::cpu_op;
    case Category::user_annotation: return EventKind::user_annotation;
    case runtime: return EventKind::runtime;
    case Category::python_function: return EventKind::python_function;
    case Category::overhead: return EventKind::overhead;
    case kernel: return EventKind::kernel;
    case copy: return EventKind::copy;
    case set: return EventKind::set;
    case gpu_annotation: return EventKind::gpu_annotation;
    case sync:
    case forward_flow:
    case other: return EventKind::other;
  }
  return EventKind::other;
}

SyncKind sync_kind_of(std::string_view name) {
  if (name == "Stream Sync" || name == "Stream Synchronize") return SyncKind::stream_sync;
  if (name == "Context Sync" || name == "Context Synchronize") return SyncKind::context_sync;
  if (name == "Event Sync" || name == "Event Synchronize") return SyncKind::event_sync;
  return name == "Stream Wait Event" ? SyncKind::stream_wait : SyncKind::unknown;
}

}  // namespace foretrace::trace::formats
