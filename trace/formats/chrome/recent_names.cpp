#include "trace/formats/chrome/recent_names.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "trace/formats/common/hash.h"

namespace foretrace::trace::formats {

NameId RecentNames::intern(std::string_view name, NameTable& names) {
  const auto word = [](const char* at) {
    std::uint64_t value = 0;
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  const std::size_t size = name.size();
  const std::uint64_t start = size < 8 ? word(name.data()) & ((1ULL << (8 * size)) - 1)
                                       : word(name.data()) ^ word(name.data() + size / 2 - 4);
  const std::uint64_t end = size < 8 ? size : word(name.data() + size - 8) + size;
  Entry& entry = entries_[fold_product(start ^ 0xA0761D6478BD642FULL, end ^ 0xE7037ED1A0B428DBULL) %
                          entries_.size()];
  if (entry.text != name) {
    entry.id = names.intern(name);
    entry.text = names[entry.id];
  }
  return entry.id;
}

}  // namespace foretrace::trace::formats
