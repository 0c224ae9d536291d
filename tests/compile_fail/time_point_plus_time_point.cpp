// Two moments do not add up; their difference is a duration.
#include "sim/core/units.h"

auto misuse(foretrace::TimePoint begin, foretrace::TimePoint end) {
#ifdef MISUSE
  return begin + end;  // must not compile
#else
  return end - begin;
#endif
}
