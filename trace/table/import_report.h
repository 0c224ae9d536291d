// ImportReport: what was read, repaired and dropped, with reason, first offset and an example.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace foretrace::trace {

enum class DamageKind : std::uint8_t { repaired, dropped };

struct Damage {
  DamageKind kind = DamageKind::dropped;
  std::string reason;  ///< "negative duration", "no timestamp", ...
  std::uint64_t count = 0;
  std::uint64_t first_offset = 0;  ///< byte offset in the decompressed text; 0: see the example
  std::string example;             ///< the event, shortened, or its table and row
};

struct ImportReport {
  std::uint64_t events = 0;  ///< elements of traceEvents seen (kept or not)
  std::uint64_t kept = 0;    ///< rows of the table plus side tables
  std::uint64_t bytes = 0;   ///< decompressed bytes read
  std::vector<Damage> damage;
  bool ends_early = false;            ///< bytes are missing at its end
  std::vector<std::string> warnings;  ///< one line each: "file ends after 3.2 MB: ..."

  [[nodiscard]] std::uint64_t dropped() const;
  [[nodiscard]] std::uint64_t repaired() const;
  void count(DamageKind kind, std::string_view reason, std::uint64_t offset,
             std::string_view example);
};

}  // namespace foretrace::trace
