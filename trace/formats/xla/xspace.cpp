#include "trace/formats/xla/xspace.h"

namespace foretrace::trace::formats {
namespace {

enum SpaceField : std::uint32_t { space_planes = 1 };
enum PlaneField : std::uint32_t {
  plane_id = 1,
  plane_name = 2,
  plane_lines = 3,
  plane_events = 4,
  plane_stat_names = 5,
  plane_stats = 6
};
enum LineField : std::uint32_t {
  line_id = 1,
  line_name = 2,
  line_timestamp = 3,
  line_events = 4,
  line_display_name = 11
};
enum EventField : std::uint32_t {
  event_metadata = 1,
  event_offset = 2,
  event_duration = 3,
  event_stats = 4
};
enum StatField : std::uint32_t {
  stat_metadata = 1,
  stat_double = 2,
  stat_unsigned = 3,
  stat_signed = 4,
  stat_text = 5,
  stat_bytes = 6,
  stat_reference = 7
};
enum MetadataField : std::uint32_t {
  metadata_name = 2,
  metadata_display_name = 4,
  metadata_stats = 5
};
enum MapField : std::uint32_t { map_key = 1, map_value = 2 };

void check(const WireReader& fields, const XDamage& damage) {
  if (!fields.trouble().empty()) {
    damage(fields.trouble(), fields.offset());
  }
}

XLine line_of(WireReader fields, std::string_view message, const XDamage& damage) {
  XLine line;
  line.message = message;
  line.offset = fields.offset();
  while (fields.next()) {
    switch (fields->number) {
      case line_id: line.id = fields->as_signed(); break;
      case line_name: line.name = fields->bytes; break;
      case line_display_name: line.display_name = fields->bytes; break;
      case line_timestamp: line.timestamp_ns = fields->as_signed(); break;
      default: break;
    }
  }
  check(fields, damage);
  return line;
}

// An entry of a map: its key, and the reader of its value.
std::optional<std::pair<std::uint64_t, WireReader>> entry_of(WireReader fields,
                                                             const XDamage& damage) {
  std::uint64_t key = 0;
  std::optional<WireReader> value;
  while (fields.next()) {
    if (fields->number == map_key) {
      key = fields->value;
    } else if (fields->number == map_value && fields->type == WireType::bytes) {
      value = fields.message();
    }
  }
  check(fields, damage);
  if (!value) return std::nullopt;
  return std::pair(key, *value);
}

XEventMetadata metadata_of(WireReader fields, const XDamage& damage) {
  XEventMetadata metadata;
  while (fields.next()) {
    switch (fields->number) {
      case metadata_name: metadata.name = fields->bytes; break;
      case metadata_display_name: metadata.display_name = fields->bytes; break;
      case metadata_stats: metadata.stats.push_back(fields->bytes); break;
      default: break;
    }
  }
  check(fields, damage);
  return metadata;
}

std::string_view stat_name_of(WireReader fields, const XDamage& damage) {
  std::string_view name;
  while (fields.next()) {
    if (fields->number == metadata_name) {
      name = fields->bytes;
    }
  }
  check(fields, damage);
  return name;
}

XPlane plane_of(WireReader fields, const XDamage& damage) {
  XPlane plane;
  while (fields.next()) {
    const bool is_message = fields->type == WireType::bytes;
    switch (fields->number) {
      case plane_id: plane.id = fields->as_signed(); break;
      case plane_name: plane.name = fields->bytes; break;
      case plane_lines:
        if (is_message) {
          plane.lines.push_back(line_of(fields.message(), fields->bytes, damage));
        }
        break;
      case plane_events:
        if (auto entry = is_message ? entry_of(fields.message(), damage) : std::nullopt) {
          plane.events.emplace(entry->first, metadata_of(entry->second, damage));
        }
        break;
      case plane_stat_names:
        if (auto entry = is_message ? entry_of(fields.message(), damage) : std::nullopt) {
          plane.stat_names.emplace(entry->first, stat_name_of(entry->second, damage));
        }
        break;
      case plane_stats: plane.stats.push_back(fields->bytes); break;
      default: break;
    }
  }
  check(fields, damage);
  return plane;
}

}  // namespace

XStat XPlane::stat(std::string_view message) const {
  const auto name_of = [&](std::uint64_t key) {
    const auto found = stat_names.find(key);
    return found == stat_names.end() ? std::string_view() : found->second;
  };
  XStat stat;
  WireReader fields(message);
  while (fields.next()) {
    switch (fields->number) {
      case stat_metadata: stat.name = name_of(fields->value); break;
      case stat_double: stat.real = fields->as_double(); break;
      case stat_unsigned:
      case stat_signed:
        stat.number = fields->as_signed();
        stat.real = static_cast<double>(stat.number);
        break;
      case stat_text:
      case stat_bytes: stat.text = fields->bytes; break;
      case stat_reference: stat.text = name_of(fields->value); break;
      default: break;
    }
  }
  return stat;
}

XSpace space_of(std::string_view bytes, const XDamage& damage) {
  XSpace space;
  WireReader fields(bytes);
  while (fields.next()) {
    if (fields->number == space_planes && fields->type == WireType::bytes) {
      space.planes.push_back(plane_of(fields.message(), damage));
    }
  }
  check(fields, damage);
  space.is_cut = fields.ran_out();
  return space;
}

void for_each_event(const XLine& line, const XDamage& damage,
                    const std::function<void(const XEvent&)>& take) {
  WireReader lines(line.message, line.offset);
  XEvent event;
  while (lines.next()) {
    if (lines->number != line_events || lines->type != WireType::bytes) continue;
    event.metadata = 0;
    event.offset_ps.reset();
    event.duration_ps.reset();
    event.stats.clear();
    event.offset = lines->offset;
    WireReader fields = lines.message();
    while (fields.next()) {
      switch (fields->number) {
        case event_metadata: event.metadata = fields->value; break;
        case event_offset: event.offset_ps = fields->as_signed(); break;
        case event_duration: event.duration_ps = fields->as_signed(); break;
        case event_stats: event.stats.push_back(fields->bytes); break;
        default: break;
      }
    }
    if (fields.trouble().empty()) {
      take(event);
    } else {
      damage(fields.trouble(), fields.offset());
    }
  }
  // What ends the line was told when the plane was read.
}

}  // namespace foretrace::trace::formats
