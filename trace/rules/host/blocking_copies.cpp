// Copies that keep their caller waiting: pageable ones to the host always, from the host above what
// the driver stages, synchronous calls.
#include <string_view>

#include "sim/core/text.h"
#include "trace/rules/assembly/assembly.h"
#include "trace/rules/assembly/constants.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules::blocking_copies_parts {
namespace {

/// A copy that keeps its caller waiting until it is done.
bool is_blocking_copy(const Assembly& assembly, const HostCall& call, const DeviceOp& op) {
  if (op.kind != TaskKind::copy) return false;
  if (call.end_ns < op.end_ns - blocking_copy_early_ns || call.end_ns < op.start_ns) {
    return false;  // the trace contradicts it
  }
  const std::string_view api = assembly.api(call);
  const std::string_view name = assembly.events.name_of(op.event);
  const bool asynchronous = contains(api, "Async");
  const bool to_host = contains(name, "DtoH") || contains(name, "DeviceToHost");
  const bool from_host = contains(name, "HtoD") || contains(name, "HostToDevice");
  if (!asynchronous && (to_host || from_host || contains(api, "WithStream"))) return true;
  const bool returned_with_it =
      call.end_ns >= op.end_ns - blocking_copy_tolerance_ns - assembly.slack_ns;
  if (contains(name, "Pageable")) {
    const Descriptor& arguments =
        assembly.events.descriptors[index(assembly.events.descriptor[index(op.event)])];
    return (to_host && returned_with_it) || (from_host && arguments.bytes > staged_copy_bytes);
  }
  return (to_host || from_host) && !contains(name, "Pinned") && returned_with_it &&
         call.end_ns - call.start_ns > blocking_copy_ns;
}

void find_blocking_copies(Assembly& assembly) {
  for (HostCall& call : assembly.calls) {
    if (call.kind == CallKind::launch && call.op_count == 1 &&
        is_blocking_copy(assembly, call, assembly.ops[call.first_op])) {
      call.kind = CallKind::blocking_copy;
    }
  }
}

}  // namespace

extern constexpr Rule info = {
    .name = "blocking_copies",
    .doc = "copies that return with their data: pageable ones to the host, large ones from it",
    .stage = Stage::collect,
    .apply = find_blocking_copies};

}  // namespace foretrace::trace::rules::blocking_copies_parts
