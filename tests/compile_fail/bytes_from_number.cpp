// A bare number is no quantity: the unit is written where the number is.
#include "sim/core/units.h"

foretrace::Bytes misuse() {
#ifdef MISUSE
  const foretrace::Bytes size = 5;  // must not compile
#else
  const foretrace::Bytes size{5};
#endif
  return size;
}
