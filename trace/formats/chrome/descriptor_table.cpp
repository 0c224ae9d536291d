#include "trace/formats/chrome/descriptor_table.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

#include "sim/core/integers.h"
#include "trace/formats/common/descriptor_hash.h"
#include "trace/formats/common/hash.h"
#include "trace/formats/json/json_check.h"
#include "trace/formats/json/number.h"
#include "trace/io/text.h"

namespace foretrace::trace::formats {
namespace {

// An argument longer than this is left out: no text of that length describes work.
constexpr std::size_t longest_argument = std::size_t{1} << 16;

std::int32_t small_integer(std::string_view token) {
  const std::int64_t value = integer_from(token).value_or(0);
  return clamped_int32(value);
}

// "[391, 1, 1]"; also as a string, which some versions write for Triton operators.
std::array<std::int32_t, 3> three_integers(std::string_view token) {
  std::array<std::int32_t, 3> values{};
  std::size_t count = 0;
  const char* at = token.data();
  const char* const end = at + token.size();
  while (at < end && count < values.size()) {
    if (*at < '0' || *at > '9') {
      ++at;
      continue;
    }
    const auto [behind, problem] = std::from_chars(at, end, values[count]);
    if (problem != std::errc{}) {
      values[count] = std::numeric_limits<std::int32_t>::max();
    }
    ++count;
    at = behind;
  }
  return values;
}

double real_number(std::string_view token) {
  const std::string_view text = without_quotes(token);
  double value = -1.0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc{} && end == text.data() + text.size() ? value : -1.0;
}

bool says_nothing(std::string_view value) {
  return value == "\"\"" || value == "[]" || value == "{}" || value == "null";
}

}  // namespace

DescriptorTable::DescriptorTable(EventTable& table) : table_(table) {
  if (table_.descriptors.empty()) {
    table_.descriptors.emplace_back();
  }
}

NameId DescriptorTable::intern_json(std::string_view written, bool& lossy) {
  if (written.size() > longest_argument) {
    lossy = true;
    return {};
  }
  // Few values make up many sets of arguments: most are known as they are written.
  const std::uint64_t hash = std::max<std::uint64_t>(hash_bytes(written, 0), 1);
  if (const auto& slot = by_written_.slot_of(hash); slot.hash == hash) return slot.found;
  const std::string value = with_plain_blanks(written);
  NameId name = table_.names.find(value);
  if (name == none<NameId> || index(name) >= valid_.size() || !valid_[index(name)]) {
    if (!is_valid_json(value)) {
      lossy = true;
      return {};
    }
    name = table_.names.intern(value);
    valid_.resize(std::max(valid_.size(), table_.names.size()));
    valid_[index(name)] = true;
  }
  by_written_.add(hash, name);
  return name;
}

DescriptorTable::Found DescriptorTable::find_or_add(std::uint64_t hash,
                                                    std::span<const Argument> described) {
  if (hash == 0) {
    return {};
  }
  if (const auto& slot = by_text_.slot_of(hash); slot.hash == hash) return slot.found;
  const Found found = parse(described);
  by_text_.add(hash, found);
  return found;
}

DescriptorTable::Found DescriptorTable::parse(std::span<const Argument> described) {
  Descriptor descriptor;
  std::string others;
  bool lossy = false;
  const auto text = [&](std::string_view value) {
    return says_nothing(value) ? NameId{} : intern_json(value, lossy);
  };
  for (const Argument& argument : described) {
    const std::string_view value = argument.text();
    switch (argument.role) {
      case ArgumentRole::dims: descriptor.dims = text(value); break;
      case ArgumentRole::types: descriptor.types = text(value); break;
      case ArgumentRole::concrete: descriptor.concrete = text(value); break;
      case ArgumentRole::bytes: descriptor.bytes = integer_from(value).value_or(-1); break;
      case ArgumentRole::grid: descriptor.grid = three_integers(value); break;
      case ArgumentRole::block: descriptor.block = three_integers(value); break;
      case ArgumentRole::registers: descriptor.registers_per_thread = small_integer(value); break;
      case ArgumentRole::shared_memory:
        descriptor.shared_memory_bytes = small_integer(value);
        break;
      case ArgumentRole::flops: descriptor.flops = real_number(value); break;
      case ArgumentRole::other: {
        if (says_nothing(value)) break;
        const std::string_view key = argument.quoted_key();
        if (value.size() > longest_argument || !is_valid_json(value) || !is_valid_json(key)) {
          lossy = true;
          break;
        }
        others += others.empty() ? "{" : ", ";
        others += key;
        others += ": ";
        others += with_plain_blanks(value);
        break;
      }
      case ArgumentRole::correlation:
      case ArgumentRole::external_id:
      case ArgumentRole::device:
      case ArgumentRole::stream:
      case ArgumentRole::sequence_number:
      case ArgumentRole::forward_thread:
      case ArgumentRole::record_function:
      case ArgumentRole::ignored: break;
    }
  }
  if (!others.empty()) {
    others += '}';
    descriptor.text = table_.names.intern(others);
  }
  return {add(descriptor), lossy};
}

DescriptorId DescriptorTable::add(const Descriptor& descriptor) {
  static const std::uint64_t nothing = hash_of(Descriptor{});
  const std::uint64_t hash = hash_of(descriptor);
  if (hash == nothing) {
    return {};
  }
  if (const auto& slot = by_content_.slot_of(hash); slot.hash == hash) return slot.found;
  const auto id = make_id<DescriptorId>(table_.descriptors.size());
  table_.descriptors.push_back(descriptor);
  by_content_.add(hash, id);
  return id;
}

}  // namespace foretrace::trace::formats
