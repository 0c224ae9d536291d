// Recorded waits: newer profilers say which stream, and which recorded event, a call waits for.
#include <cstdint>

#include "trace/rules/assembly/assembly.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules::cuda_sync_parts {
namespace {

void index_records(Assembly& assembly) {
  SyncRecords& syncs = assembly.syncs;
  for (const SyncRecord& record : assembly.events.syncs) {
    if (record.correlation <= 0) continue;
    syncs.by_call.emplace(record.correlation, &record);
    if (record.kind == SyncKind::stream_wait) {
      syncs.stream_waits.emplace(record.correlation, &record);
    }
  }
  if (syncs.by_call.empty()) return;
  for (std::size_t i = 0; i < assembly.calls.size(); ++i) {
    const HostCall& call = assembly.calls[i];
    if (call.kind == CallKind::event_record) {
      syncs.record_calls.emplace(assembly.events.correlation[index(call.event)],
                                 static_cast<std::uint32_t>(i));
    }
  }
}

}  // namespace

extern constexpr Rule info = {
    .name = "cuda_sync",
    .doc = "recorded waits: which stream and which event each call waited for, instead of guesses",
    .apply = index_records};

}  // namespace foretrace::trace::rules::cuda_sync_parts
