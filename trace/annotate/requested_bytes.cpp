// Requests behind blocks.
#include "trace/annotate/requested_bytes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

namespace foretrace::trace {
namespace {

// Allocators round to 512 bytes and leave a rest of up to 1 MiB with a large block
// (CUDACachingAllocator: kMinBlockSize, kSmallSize).
constexpr std::int64_t largest_tail = (std::int64_t{1} << 20) + 511;

// Smaller requests come from another pool, whose blocks have no such tails (kSmallSize).
constexpr std::int64_t largest_small = std::int64_t{1} << 20;

// Of one kind of call; more are not looked at.
constexpr std::size_t most_sizes = 256;

/// The quoted elements of a JSON list of strings, without their quotes: ["[2, 3]", "15", ""].
std::vector<std::string_view> quoted(std::string_view text) {
  std::vector<std::string_view> list;
  while (list.size() < 4) {
    const std::size_t from = text.find('"');
    const std::size_t to = from == std::string_view::npos ? from : text.find('"', from + 1);
    if (to == std::string_view::npos) break;
    list.push_back(text.substr(from + 1, to - from - 1));
    text.remove_prefix(to + 1);
  }
  return list;
}

/// The numbers of "[2, 3]"; nothing if it is no such list.
std::optional<std::vector<std::int64_t>> numbers(std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  std::vector<std::int64_t> list;
  const char* at = text.data() + 1;
  const char* const end = text.data() + text.size() - 1;
  while (at < end) {
    std::int64_t value = 0;
    const auto parsed = std::from_chars(at, end, value);
    if (parsed.ec != std::errc{} || value < 0) return std::nullopt;
    list.push_back(value);
    at = parsed.ptr;
    while (at < end && (*at == ',' || *at == ' ')) ++at;
  }
  return list;
}

/// Bytes per element by c10::ScalarType, which recordings give as a number; 0: not known. An empty
/// text is the default type, float unless the program changed it.
std::int64_t item_bytes(std::string_view code) {
  static constexpr std::array<std::int64_t, 16> bytes = {1, 1, 2,  4, 8, 2, 4, 8,
                                                         4, 8, 16, 1, 1, 1, 4, 2};
  if (code.empty()) return 4;
  std::size_t number = 0;
  const auto parsed = std::from_chars(code.data(), code.data() + code.size(), number);
  return parsed.ec == std::errc{} && number < bytes.size() ? bytes[number] : 0;
}

/// a * b, or -1 beyond 2^61.
std::int64_t product(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t limit = std::int64_t{1} << 61;
  return a < 0 || b < 0 || (b > 0 && a > limit / b) ? -1 : a * b;
}

/// Elements of storage: all of them, or up to the last one that the strides reach.
std::int64_t elements(const std::vector<std::int64_t>& sizes,
                      const std::optional<std::vector<std::int64_t>>& strides) {
  std::int64_t count = 1;
  if (!strides) {
    for (const std::int64_t size : sizes) count = product(count, size);
    return count;
  }
  if (strides->size() != sizes.size()) return -1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    const std::int64_t reach = product(sizes[i] - 1, (*strides)[i]);
    if (reach < 0 || count > (std::int64_t{1} << 61)) return -1;
    count += reach;
  }
  return count;
}

}  // namespace

std::int64_t requested_bytes(const EventTable& events, EventId factory, std::int64_t block_bytes) {
  if (factory == none<EventId>) return -1;
  const std::string_view name = events.name_of(factory);
  const bool strided = name == "aten::empty_strided";
  if (!strided && name != "aten::empty") return -1;
  const Descriptor& descriptor = events.descriptors[index(events.descriptor[index(factory)])];
  const auto arguments = quoted(events.names[descriptor.concrete]);
  const std::size_t type = strided ? 2 : 1;
  if (arguments.size() <= type) return -1;
  const auto sizes = numbers(arguments[0]);
  const auto strides = strided ? numbers(arguments[1]) : std::nullopt;
  if (!sizes || (strided && !strides)) return -1;
  const std::int64_t bytes = product(elements(*sizes, strides), item_bytes(arguments[type]));
  return bytes > 0 && bytes <= block_bytes && block_bytes - bytes <= largest_tail ? bytes : -1;
}

void undo_tails(const EventTable& events, const TensorLifetimes& lifetimes,
                std::vector<TensorOwner>& owners) {
  using Class = std::tuple<NameId, NameId, TensorCategory>;  // operator, its input dims
  const auto class_of = [&](const TensorOwner& owner) {
    const std::size_t event = index(owner.operator_event);
    return Class{events.name[event], events.descriptors[index(events.descriptor[event])].dims,
                 owner.category};
  };
  std::map<Class, std::map<std::int64_t, std::size_t>> counts;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    if (owners[i].operator_event != none<EventId>) {
      ++counts[class_of(owners[i])][lifetimes.tensors[i].bytes];
    }
  }
  for (std::size_t i = 0; i < owners.size(); ++i) {
    if (owners[i].operator_event == none<EventId> || owners[i].requested_bytes >= 0) continue;
    const std::int64_t block = lifetimes.tensors[i].bytes;
    const auto& sizes = counts[class_of(owners[i])];
    auto best = sizes.find(block);
    auto size = best;
    for (std::size_t tried = 0; tried < most_sizes && size != sizes.begin(); ++tried) {
      --size;
      if (block - size->first > largest_tail || size->first <= largest_small) break;
      if (size->second > best->second) best = size;
    }
    owners[i].requested_bytes = best->first;
  }
}

}  // namespace foretrace::trace
