// Bytes and time do not add up.
#include "sim/core/units.h"

foretrace::Duration misuse(foretrace::Bytes size, foretrace::Bandwidth rate,
                           foretrace::Duration latency) {
#ifdef MISUSE
  return latency + size;  // must not compile
#else
  return latency + size / rate;
#endif
}
