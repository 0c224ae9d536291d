// The ids of names that a reader has just seen, without a look-up in the table of all.
#pragma once

#include <array>
#include <string_view>

#include "trace/table/events.h"

namespace foretrace::trace::formats {

/// The ids of names seen lately: a look-up costs one comparison of texts.
class RecentNames {
 public:
  /// scan_padding bytes behind the name must be readable.
  NameId intern(std::string_view name, NameTable& names);

 private:
  struct Entry {
    std::string_view text;  // in the table; empty at first, and so is name 0
    NameId id{};
  };
  std::array<Entry, 1024> entries_{};
};

}  // namespace foretrace::trace::formats
