// Gives events of XLA's JSON, which have no category, the kind that their process and thread say.
#pragma once

#include <map>
#include <string>

#include "trace/table/events.h"
#include "trace/table/import_report.h"

namespace foretrace::trace::formats {

/// `processes`: names by process number ("/host:CPU", "/device:GPU:0").
void classify_xla(EventTable& table, const std::map<std::int64_t, std::string>& processes,
                  ImportReport& report);

}  // namespace foretrace::trace::formats
