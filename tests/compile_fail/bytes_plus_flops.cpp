// Quantities of different units do not mix.
#include "sim/core/units.h"

auto misuse(foretrace::Bytes size, [[maybe_unused]] foretrace::Flops work) {
#ifdef MISUSE
  return size + work;  // must not compile
#else
  return size + size;
#endif
}
