// Requests behind blocks.
#include "trace/annotate/tensors/requested_bytes.h"

#include <map>
#include <optional>
#include <string_view>
#include <tuple>

#include "trace/annotate/tensors/operator_arguments.h"

namespace foretrace::trace {
namespace {

// Allocators round to 512 bytes and leave a rest of up to 1 MiB with a large block
// (CUDACachingAllocator: kMinBlockSize, kSmallSize).
constexpr std::int64_t largest_tail = (std::int64_t{1} << 20) + 511;

// Smaller requests come from another pool, whose blocks have no such tails (kSmallSize).
constexpr std::int64_t largest_small = std::int64_t{1} << 20;

// Of one kind of call; more are not looked at.
constexpr std::size_t most_sizes = 256;

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
  const auto arguments = list_elements(events.names[descriptor.concrete]);
  const std::size_t type = strided ? 2 : 1;
  if (arguments.size() <= type) return -1;
  const auto sizes = numbers_in(arguments[0]);
  const auto strides = strided ? numbers_in(arguments[1]) : std::nullopt;
  if (!sizes || (strided && !strides)) return -1;
  const std::int64_t bytes =
      product(elements(*sizes, strides), bytes_of(scalar_type(arguments[type])));
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
