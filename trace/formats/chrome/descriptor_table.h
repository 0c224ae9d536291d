// Interns the descriptive arguments of events: a known set costs one look-up of its hash.
#pragma once

#include <cstdint>
#include <span>
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
  /// EventFields::arguments_hash and EventFields::described of an event.
  Found find_or_add(std::uint64_t hash, std::span<const Argument> described);
  /// Fetches what find_or_add() will look at: with many sets of arguments it is in no cache.
  void prefetch(std::uint64_t hash) { __builtin_prefetch(&by_text_.home_of(hash)); }

 private:
  /// What was found for texts, by their hashes.
  template <typename T>
  class Known {
   public:
    struct Slot {
      std::uint64_t hash = 0;  // 0: free
      T found{};
    };
    /// The place of a hash (not 0), free if it is new.
    [[nodiscard]] Slot& slot_of(std::uint64_t hash) {
      const std::size_t mask = slots_.size() - 1;
      std::size_t at = hash & mask;
      while (slots_[at].hash != 0 && slots_[at].hash != hash) {
        at = (at + 1) & mask;
      }
      return slots_[at];
    }
    /// Where the search for a hash starts.
    [[nodiscard]] const Slot& home_of(std::uint64_t hash) const {
      return slots_[hash & (slots_.size() - 1)];
    }
    void add(std::uint64_t hash, const T& found) {
      if (++used_ * 2 > slots_.size()) {
        grow();
      }
      slot_of(hash) = {hash, found};
    }

   private:
    void grow() {
      std::vector<Slot> smaller(slots_.size() * 2);
      smaller.swap(slots_);
      for (const Slot& slot : smaller) {
        if (slot.hash != 0) {
          slot_of(slot.hash) = slot;
        }
      }
    }
    std::vector<Slot> slots_ = std::vector<Slot>(1024);
    std::size_t used_ = 0;
  };
  Found parse(std::span<const Argument> described);
  /// The name of a value that is valid JSON; 0, and `lossy`, if it is not.
  NameId intern_json(std::string_view written, bool& lossy);
  DescriptorId add(const Descriptor& descriptor);

  EventTable& table_;
  std::vector<bool> valid_;   // by name: it is valid JSON
  Known<NameId> by_written_;  // values that are valid JSON, as they are written
  Known<Found> by_text_;
  Known<DescriptorId> by_content_;
};

}  // namespace foretrace::trace::formats
