// A host thread that is to wait for its device where it did not.
#pragma once

#include "sim/edit/editor.h"

namespace foretrace::editing {

/// The thread of `call` will wait, before that call, for device work up to `last`. Orders of a
/// shared device (DependencyKind::capacity) that put work of later launches in front of it go: that
/// work now comes behind, and nothing but the recording's timing had ordered the two.
void forget_later_work(Editor& editor, TaskId call, TaskId last);

}  // namespace foretrace::editing
