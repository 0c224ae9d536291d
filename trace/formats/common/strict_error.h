// What --strict says of a damaged file.
#pragma once

#include "sim/core/result.h"
#include "trace/io/byte_source.h"
#include "trace/table/import_report.h"

namespace foretrace::trace::formats {

/// For formats whose damage is told by table and row, not by byte.
[[nodiscard]] Error strict_row_error(const ByteSource& source, const ImportReport& report);

}  // namespace foretrace::trace::formats
