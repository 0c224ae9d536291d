// A parameter is read by its row, so that no name can be misspelt.
#include "sim/core/params.h"

namespace {
constexpr foretrace::ParamInfo factor_param = {.name = "factor", .doc = "New time / old time."};
}  // namespace

double misuse(const foretrace::ParamValues& params) {
#ifdef MISUSE
  return params.number("factr");  // must not compile
#else
  return params.number(factor_param);
#endif
}
