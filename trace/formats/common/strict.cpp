#include "trace/formats/common/strict.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace foretrace::trace::formats {
namespace {

/// What was dropped first, else the other reason.
Error damage_error(const ImportReport& report, const ByteSource& source, DamageBy by,
                   std::string_view otherwise) {
  const auto first =
      std::find_if(report.damage.begin(), report.damage.end(),
                   [](const Damage& damage) { return damage.kind == DamageKind::dropped; });
  if (first == report.damage.end()) {
    return {ErrorCode::bad_format, fmt::format("{}: {}", source.path(), otherwise)};
  }
  const std::string what =
      by == DamageBy::row
          ? fmt::format("rows cannot be read, first {}: {}", first->example, first->reason)
          : fmt::format("events cannot be read, first at byte {}: {}: {}", first->first_offset,
                        first->reason, first->example);
  return {ErrorCode::bad_format,
          fmt::format("{}: {} of {} {}", source.path(), report.dropped(), report.events, what)};
}

}  // namespace

LoadedTrace started(const ByteSource& source, std::string_view format) {
  LoadedTrace trace;
  trace.events.info.format = format;
  trace.events.info.path = source.path();
  return trace;
}

Result<LoadedTrace> checked(LoadedTrace trace, const ByteSource& source,
                            const ReadOptions& options) {
  if (trace.events.descriptors.empty()) trace.events.descriptors.emplace_back();
  const ImportReport& report = trace.report;
  if (!options.strict || (report.dropped() == 0 && report.warnings.empty())) return trace;
  return damage_error(report, source, DamageBy::byte,
                      report.warnings.empty() ? "" : std::string_view(report.warnings.front()));
}

Result<LoadedTrace> intact(LoadedTrace trace, const ByteSource& source, const ReadOptions& options,
                           DamageBy by) {
  const ImportReport& report = trace.report;
  if (!options.strict || (report.dropped() == 0 && source.trouble().empty())) return trace;
  return damage_error(report, source, by, source.trouble());
}

}  // namespace foretrace::trace::formats
