// Reads the text of PYTORCH_CUDA_ALLOC_CONF.
#include "models/hardware/memories/allocator_settings.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/core/params.h"
#include "sim/core/text.h"

namespace foretrace {
namespace {

constexpr std::array<std::string_view, 6> keys = {
    "expandable_segments",   "garbage_collection_threshold",
    "large_segment_size_mb", "max_non_split_rounding_mb",
    "max_split_size_mb",     "roundup_power2_divisions"};
// They do not change where blocks lie.
constexpr std::array<std::string_view, 7> without_effect = {"backend",
                                                            "release_lock_on_cudamalloc",
                                                            "release_lock_on_hipmalloc",
                                                            "pinned_use_cuda_host_register",
                                                            "pinned_num_register_threads",
                                                            "pinned_use_background_threads",
                                                            "graph_capture_record_stream_reuse"};
// 1 PiB in MiB: more than any device, and no product with 2^20 overflows.
constexpr double most_mebibytes = 1 << 30;

Error bad(std::string_view key, std::string_view got, std::string_view expected) {
  return Error{ErrorCode::bad_usage, fmt::format("allocator settings: {}: got {}, expected {}",
                                                 in_quotes(key), in_quotes(got), expected)};
}

/// Splits at commas that are not within brackets.
std::vector<std::string_view> items_of(std::string_view text) {
  std::vector<std::string_view> items;
  int depth = 0;
  std::size_t from = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      const std::string_view item = trimmed(text.substr(from, i - from));
      if (!item.empty()) items.push_back(item);
      from = i + 1;
    } else {
      depth += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
    }
  }
  return items;
}

std::optional<double> number_of(std::string_view text, double least, double most) {
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size();
  return whole && value >= least && value <= most ? std::optional(value) : std::nullopt;
}

Status read_mebibytes(std::string_view key, std::string_view text, std::int64_t& bytes) {
  const auto value = number_of(text, 1, most_mebibytes);
  if (!value) return bad(key, text, "a number of MiB from 1");
  bytes = static_cast<std::int64_t>(*value) * mebibyte;
  return ok_status();
}

/// "4" for all sizes, or "[256:1,512:2,>:4]": up to 256 MiB, up to 512 MiB, beyond.
Status read_divisions(std::string_view text, AllocatorSettings& settings) {
  constexpr std::string_view key = "roundup_power2_divisions";
  auto& divisions = settings.roundup_power2_divisions;
  const auto power = [](std::string_view number) -> std::optional<std::uint32_t> {
    const auto value = number_of(number, 1, 1 << 20);
    if (!value || !std::has_single_bit(static_cast<std::uint32_t>(*value))) return std::nullopt;
    return static_cast<std::uint32_t>(*value);
  };
  if (!text.starts_with('[')) {
    const auto value = power(text);
    if (!value) return bad(key, text, "a power of two");
    divisions.fill(*value);
    return ok_status();
  }
  if (!text.ends_with(']')) return bad(key, text, "a list that ends with ']'");
  std::size_t filled = 0;
  for (const std::string_view item : items_of(text.substr(1, text.size() - 2))) {
    const std::size_t colon = item.find(':');
    const auto value =
        power(colon == std::string_view::npos ? "" : trimmed(item.substr(colon + 1)));
    const std::string_view size = trimmed(item.substr(0, std::min(colon, item.size())));
    const auto bound = size == ">" ? std::optional(1U << 15U) : power(size);
    if (!value || !bound) return bad(key, item, "SIZE:DIVISIONS, powers of two, or >:DIVISIONS");
    // Interval i holds sizes from 2^i MiB; a size in MiB names the interval that it begins.
    const auto last = std::min<std::size_t>(divisions.size() - 1,
                                            static_cast<std::size_t>(std::bit_width(*bound)) - 1);
    for (; filled <= last; ++filled) divisions.at(filled) = *value;
  }
  return ok_status();
}

Status read_item(std::string_view key, std::string_view value, AllocatorSettings& settings) {
  if (key == "expandable_segments") {
    if (value != "True" && value != "False") return bad(key, value, "True or False");
    settings.expandable_segments = value == "True";
    return ok_status();
  }
  if (key == "garbage_collection_threshold") {
    const auto share = number_of(value, 0, 1);
    if (!share || *share <= 0 || *share >= 1) return bad(key, value, "a number between 0 and 1");
    settings.garbage_collection_threshold = *share;
    return ok_status();
  }
  if (key == "max_split_size_mb") return read_mebibytes(key, value, settings.max_split_bytes);
  if (key == "max_non_split_rounding_mb") {
    return read_mebibytes(key, value, settings.max_non_split_rounding_bytes);
  }
  if (key == "large_segment_size_mb") {
    return read_mebibytes(key, value, settings.large_segment_bytes);
  }
  if (key == "roundup_power2_divisions") return read_divisions(value, settings);
  if (std::find(without_effect.begin(), without_effect.end(), key) != without_effect.end()) {
    return ok_status();
  }
  return Error{ErrorCode::bad_usage, fmt::format("allocator settings: unknown setting {}{}",
                                                 in_quotes(key), did_you_mean(key, keys))};
}

}  // namespace

Result<AllocatorSettings> parse_allocator_settings(std::string_view text) {
  AllocatorSettings settings;
  for (const std::string_view item : items_of(text)) {
    const std::size_t colon = item.find(':');
    if (colon == std::string_view::npos) return bad(item, item, "KEY:VALUE");
    FORETRACE_TRY(
        read_item(trimmed(item.substr(0, colon)), trimmed(item.substr(colon + 1)), settings));
  }
  return settings;
}

}  // namespace foretrace
