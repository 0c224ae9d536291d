// An XSpace (the profile of JAX, TensorFlow and other XLA users) as views into its bytes.
//
//   XSpace { planes = 1, hostnames = 4 }
//   XPlane { id = 1, name = 2, lines = 3, event_metadata = 4, stat_metadata = 5, stats = 6 }
//   XLine { id = 1, name = 2, timestamp_ns = 3, events = 4, display_name = 11 }
//   XEvent { metadata_id = 1, offset_ps = 2, duration_ps = 3, stats = 4, num_occurrences = 5 }
//   XStat { metadata_id = 1,
//           one of double = 2, uint64 = 3, int64 = 4, text = 5, bytes = 6, ref = 7 }
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/formats/common/protobuf_wire.h"

namespace foretrace::trace::formats {

/// A named value. Texts may stand for themselves or be names of the plane.
struct XStat {
  std::string_view name;
  std::string_view text;  ///< empty: a number
  std::int64_t number = 0;
  double real = 0;  ///< of a double; the number otherwise
};

struct XEvent {
  std::uint64_t metadata = 0;
  std::optional<std::int64_t> offset_ps;
  std::optional<std::int64_t> duration_ps;
  std::vector<std::string_view> stats;  ///< messages, see XPlane::stat
  std::uint64_t offset = 0;             ///< of the event in the file
};

struct XEventMetadata {
  std::string_view name;
  std::string_view display_name;
  std::vector<std::string_view> stats;
};

struct XLine {
  std::int64_t id = 0;
  std::string_view name;
  std::string_view display_name;
  std::int64_t timestamp_ns = 0;
  std::string_view message;
  std::uint64_t offset = 0;
};

struct XPlane {
  std::int64_t id = 0;
  std::string_view name;
  std::vector<XLine> lines;
  std::unordered_map<std::uint64_t, XEventMetadata> events;
  std::unordered_map<std::uint64_t, std::string_view> stat_names;
  std::vector<std::string_view> stats;

  /// What a stat's message says; names and references are those of this plane.
  [[nodiscard]] XStat stat(std::string_view message) const;
};

/// Told of everything that cannot be read: why, and where in the file.
using XDamage = std::function<void(std::string_view reason, std::uint64_t offset)>;

/// A space as far as it can be read.
struct XSpace {
  std::vector<XPlane> planes;
  bool is_cut = false;  ///< its bytes end inside a plane
};
[[nodiscard]] XSpace space_of(std::string_view bytes, const XDamage& damage);
/// Gives each event of a line in turn. It is valid during the call.
void for_each_event(const XLine& line, const XDamage& damage,
                    const std::function<void(const XEvent&)>& take);

}  // namespace foretrace::trace::formats
