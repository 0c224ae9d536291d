#include "trace/formats/common/nsys_names.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "sim/core/text.h"
#include "trace/formats/common/event_category.h"

namespace foretrace::trace::formats {
namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

// "_v7000": at least four digits, a CUDA version; "_v2" is part of a driver call's name.
std::string_view without_version(std::string_view name) {
  constexpr std::size_t fewest_digits = 4;
  std::size_t at = name.size();
  while (at > 0 && is_digit(name[at - 1])) {
    --at;
  }
  const bool version =
      name.size() - at >= fewest_digits && at > 2 && name.substr(at - 2, 2) == "_v";
  return version ? name.substr(0, at - 2) : name;
}

// ENUM_CUDA_MEMCPY_OPER, in PyTorch's words.
constexpr std::array<std::string_view, 14> copy_kinds = {
    "",     "HtoD", "DtoH", "HtoA", "AtoH",         "AtoA",         "AtoD",
    "DtoA", "DtoD", "HtoH", "PtoP", "Unified HtoD", "Unified DtoH", "Unified DtoD"};
// ENUM_CUDA_MEM_KIND.
constexpr std::array<std::string_view, 8> memory_kinds = {
    "Pageable", "Pinned",        "Device",         "Array",
    "Managed",  "Device Static", "Managed Static", "Unknown"};

template <std::size_t count>
std::string_view at_or(const std::array<std::string_view, count>& names, std::int64_t i,
                       std::string_view fallback) {
  return i >= 0 && i < static_cast<std::int64_t>(count) ? names[static_cast<std::size_t>(i)]
                                                        : fallback;
}

// Where a field that emit_nvtx appends to the name begins, or npos.
std::size_t field_at(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    if (text.substr(0, at).ends_with(", ") && text.substr(at + key.size()).starts_with(" = ")) {
      return at;
    }
  }
  return std::string_view::npos;
}

std::string_view field_value(std::string_view text, std::size_t at, std::string_view key) {
  return text.substr(at + key.size() + 3);
}

// Namespaces of operators are written small ("aten::", "c10d::"); those of ranges that a library
// marks for its users ("FSDP::pre_forward (layer)") are not, or have blanks behind them.
bool names_operator(std::string_view name) {
  const std::size_t colons = name.find("::");
  if (colons == std::string_view::npos || colons == 0 || names_annotation(name)) return false;
  const std::string_view space = name.substr(0, colons);
  const bool small = is_lower(space[0]) && std::all_of(space.begin(), space.end(), [](char c) {
                       return is_lower(c) || is_digit(c) || c == '_';
                     });
  return small && (!contains(name, ' ') || space == "autograd");
}

}  // namespace

std::string_view plain_api_name(std::string_view name) {
  name = without_version(name);
  for (const std::string_view suffix : {"_ptsz", "_ptds"}) {
    if (name.ends_with(suffix)) {
      name.remove_suffix(suffix.size());
    }
  }
  return name;
}

std::string copy_name(std::int64_t kind, std::int64_t source, std::int64_t target) {
  const std::string_view direction = at_or(copy_kinds, kind, "");
  const std::string_view from = at_or(memory_kinds, source, "Unknown");
  const std::string_view to = at_or(memory_kinds, target, "Unknown");
  if (source < 0 && target < 0) {
    return direction.empty() ? "Memcpy" : fmt::format("Memcpy {}", direction);
  }
  return fmt::format("Memcpy {}{}({} -> {})", direction, direction.empty() ? "" : " ", from, to);
}

std::string set_name(std::int64_t kind) {
  return kind < 0 ? "Memset" : fmt::format("Memset ({})", at_or(memory_kinds, kind, "Unknown"));
}

std::string_view overhead_name(std::int64_t type) {
  // CUpti_ActivityOverheadKind; the first two are unknown.
  constexpr std::array<std::string_view, 9> names = {"",
                                                     "",
                                                     "Driver Compiler",
                                                     "Buffer Flush",
                                                     "Instrumentation",
                                                     "Resource",
                                                     "Runtime Triggered Module Loading",
                                                     "Lazy Function Loading",
                                                     "Command Buffer Full"};
  return at_or(names, type, "");
}

SyncKind sync_kind_of_call(std::string_view api) {
  const auto has = [&](std::string_view part) { return contains(api, part); };
  if (has("StreamSynchronize")) return SyncKind::stream_sync;
  if (has("StreamWaitEvent")) return SyncKind::stream_wait;
  if (has("EventSynchronize")) return SyncKind::event_sync;
  const bool context =
      has("DeviceSynchronize") || has("CtxSynchronize") || has("ThreadSynchronize");
  return context ? SyncKind::context_sync : SyncKind::unknown;
}

SyncKind sync_kind_of_type(std::int64_t type) {
  switch (type) {  // CUpti_ActivitySynchronizationType
    case 1: return SyncKind::event_sync;
    case 2: return SyncKind::stream_wait;
    case 3: return SyncKind::stream_sync;
    case 4: return SyncKind::context_sync;
    default: return SyncKind::unknown;
  }
}

NvtxOperator parse_nvtx(std::string_view text) {
  NvtxOperator found{.name = text, .number = -1, .sizes = {}, .is_operator = false};
  const std::size_t sequence = field_at(text, "seq");
  const std::size_t id = field_at(text, "op_id");
  const std::size_t sizes = field_at(text, "sizes");
  const std::size_t inputs = field_at(text, "input_op_ids");
  const std::size_t first = std::min({sequence, id, sizes});
  if (first == std::string_view::npos) return found;
  found.name = text.substr(0, first - 2);
  if (sequence != std::string_view::npos) {
    const std::string_view value = field_value(text, sequence, "seq");
    std::from_chars(value.data(), value.data() + value.size(), found.number);
  }
  if (sizes != std::string_view::npos) {
    const std::size_t end =
        inputs != std::string_view::npos && inputs > sizes ? inputs - 2 : text.size();
    found.sizes = field_value(text.substr(0, end), sizes, "sizes");
  }
  found.is_operator = found.number >= 0 || names_operator(found.name);
  return found;
}

}  // namespace foretrace::trace::formats
