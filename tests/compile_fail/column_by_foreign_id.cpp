// A column of tasks cannot be indexed by a lane.
#include "sim/core/ids.h"

int misuse(const foretrace::Column<foretrace::TaskId, int>& column, foretrace::TaskId task,
           [[maybe_unused]] foretrace::LaneId lane) {
#ifdef MISUSE
  return column[task] + column[lane];  // must not compile
#else
  return column[task];
#endif
}
