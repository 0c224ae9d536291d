#include "trace/formats/common/strict.h"

#include <utility>

#include <fmt/format.h>

namespace foretrace::trace::formats {

Result<LoadedTrace> checked(LoadedTrace trace, const ByteSource& source,
                            const ReadOptions& options) {
  if (trace.events.descriptors.empty()) {
    trace.events.descriptors.emplace_back();
  }
  if (!options.strict) {
    return trace;
  }
  const ImportReport& report = trace.report;
  for (const Damage& damage : report.damage) {
    if (damage.kind == DamageKind::dropped) {
      return Error{ErrorCode::bad_format,
                   fmt::format("{}: {} of {} events cannot be read, first at byte {}: {}: {}",
                               source.path(), report.dropped(), report.events, damage.first_offset,
                               damage.reason, damage.example)};
    }
  }
  if (!report.warnings.empty()) {
    return Error{ErrorCode::bad_format,
                 fmt::format("{}: {}", source.path(), report.warnings.front())};
  }
  return trace;
}

}  // namespace foretrace::trace::formats
