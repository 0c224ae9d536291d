#include "trace/formats/common/strict_error.h"

#include <string>

#include <fmt/format.h>

namespace foretrace::trace::formats {

Error strict_row_error(const ByteSource& source, const ImportReport& report) {
  for (const Damage& damage : report.damage) {
    if (damage.kind == DamageKind::dropped) {
      return Error{ErrorCode::bad_format,
                   fmt::format("{}: {} of {} rows cannot be read, first {}: {}", source.path(),
                               report.dropped(), report.events, damage.example, damage.reason)};
    }
  }
  return Error{ErrorCode::bad_format,
               fmt::format("{}: {}", source.path(), std::string(source.trouble()))};
}

}  // namespace foretrace::trace::formats
