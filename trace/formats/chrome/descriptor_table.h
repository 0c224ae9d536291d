// Interns the descriptive arguments of events: a known set costs one look-up of its hash.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/formats/chrome/event_fields.h"
#include "trace/table/events.h"

namespace foretrace::trace::formats {

class DescriptorTable {
 public:
  explicit DescriptorTable(EventTable& table);

  struct Found {
    DescriptorId id{};
    bool lossy = false;  ///< parts of the arguments were no valid JSON or too long, and left out
  };
  /// `arguments` is the object as written, `hash` is EventFields::arguments_hash of it.
  Found find_or_add(std::uint64_t hash, std::string_view arguments);

 private:
  struct Slot {
    std::uint64_t hash = 0;  // 0: free
    Found found;
  };
  static Slot& slot_of(std::vector<Slot>& slots, std::uint64_t hash);
  static void grow(std::vector<Slot>& slots);
  Found parse(std::string_view arguments);
  /// The name of a value that is valid JSON; 0, and `lossy`, if it is not.
  NameId intern_json(std::string_view written, bool& lossy);
  DescriptorId add(const Descriptor& descriptor);

  EventTable& table_;
  std::vector<bool> valid_;  // by name: it is valid JSON
  std::vector<Slot> by_text_;
  std::size_t by_text_used_ = 0;
  std::vector<Slot> by_content_;
  std::size_t by_content_used_ = 0;
};

}  // namespace foretrace::trace::formats
