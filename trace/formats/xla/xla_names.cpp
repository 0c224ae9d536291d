#include "trace/formats/xla/xla_names.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "sim/core/integers.h"
#include "sim/core/text.h"

namespace foretrace::trace::formats {
namespace {

// "grid:16,1,1" in " grid:16,1,1 block:512,1,1 ..."
std::array<std::int32_t, 3> triple_behind(std::string_view text, std::string_view key) {
  std::array<std::int32_t, 3> found{};
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return found;
  const char* next = text.data() + at + key.size();
  const char* const end = text.data() + text.size();
  for (std::int32_t& value : found) {
    const auto [behind, error] = std::from_chars(next, end, value);
    if (error != std::errc() || behind == end) break;
    next = behind + 1;
  }
  for (std::int32_t& value : found) {
    value = std::max(value, 0);
  }
  return found;
}

}  // namespace

std::int64_t number_behind(std::string_view text, std::string_view prefix, std::int64_t fallback) {
  const std::size_t at = text.find(prefix);
  std::int64_t value = fallback;
  if (at != std::string_view::npos) {
    const char* begin = text.data() + at + prefix.size();
    std::from_chars(begin, text.data() + text.size(), value);
  }
  return value;
}

std::int64_t program_number(std::string_view module) {
  return module.ends_with(')') ? number_behind(module, "(", -1) : -1;
}

std::int64_t stream_number(std::string_view line) {
  constexpr std::string_view prefix = "Stream #";
  return line.starts_with(prefix) ? number_behind(line, prefix, -1) : -1;
}

bool is_runtime_call(std::string_view name) {
  const bool driver = name.starts_with("cu") && name.size() > 2 && name[2] >= 'A' && name[2] <= 'Z';
  return name.starts_with("cuda") || name.starts_with("hip") || driver;
}

EventKind kind_of_work(std::string_view name) {
  if (name.starts_with("Memcpy") || contains(name, "amd_rocclr_copyBuffer")) return EventKind::copy;
  const bool set = name.starts_with("Memset") || contains(name, "amd_rocclr_fillBuffer");
  return set ? EventKind::set : EventKind::kernel;
}

std::string plain_copy_name(std::string_view name) {
  constexpr std::string_view prefix = "Memcpy";
  if (name.size() == prefix.size() + 3 && name.starts_with(prefix) && name[7] == '2') {
    return fmt::format("Memcpy {}to{}", name[6], name[8]);
  }
  return std::string(name);
}

std::string instruction_name(std::string_view operation) {
  return fmt::format("{}{}", operation.starts_with('%') ? "" : "%", operation);
}

void apply(const XlaDetails& details, Descriptor& descriptor) {
  if (!details.copy.empty() || !details.set.empty()) {
    const std::int64_t size = number_behind(details.copy, "size:", -1);
    const std::int64_t bytes = number_behind(details.set, "num_bytes:", size);
    descriptor.bytes = bytes > 0 ? bytes : descriptor.bytes;
  }
  if (details.kernel.empty()) return;
  descriptor.grid = triple_behind(details.kernel, "grid:");
  descriptor.block = triple_behind(details.kernel, "block:");
  descriptor.registers_per_thread = clamped_int32(number_behind(details.kernel, "regs:", 0));
  std::int64_t shared = 0;
  for (const std::string_view key : {"static_shared:", "dynamic_shared:", "group_mem:"}) {
    shared += clamped_int32(number_behind(details.kernel, key, 0));
  }
  descriptor.shared_memory_bytes = clamped_int32(shared);
}

}  // namespace foretrace::trace::formats
