// Work that was launched before the window (or whose launch was not recorded): it is in the way of
// what was launched in it.
#include "trace/rules/assembly/assembly.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules::pre_window_parts {
namespace {

void add_work_without_call(Assembly& assembly) {
  assembly.ops.insert(assembly.ops.end(), assembly.without_call.begin(),
                      assembly.without_call.end());
}

}  // namespace

extern constexpr Rule info = {
    .name = "pre_window",
    .doc = "GPU work whose launch was not recorded: the next work of its stream waits for it",
    .stage = Stage::collect,
    .apply = add_work_without_call};

}  // namespace foretrace::trace::rules::pre_window_parts
