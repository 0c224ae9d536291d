// An error cannot be dropped by accident.
#include "sim/core/result.h"

foretrace::Status attempt();
bool misuse() {
#ifdef MISUSE
  attempt();  // must not compile
  return true;
#else
  return attempt().ok();
#endif
}
