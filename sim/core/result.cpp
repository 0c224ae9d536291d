#include "sim/core/result.h"

#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

namespace foretrace {

Error Error::with_context(std::string_view where) && {
  message = fmt::format("{}: {}", where, message);
  return std::move(*this);
}

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::not_found: return "not-found";
    case ErrorCode::bad_format: return "bad-format";
    case ErrorCode::bad_config: return "bad-config";
    case ErrorCode::bad_usage: return "bad-usage";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::cyclic_graph: return "cyclic-graph";
    case ErrorCode::missing_cost: return "missing-cost";
    case ErrorCode::no_match: return "no-match";
    case ErrorCode::io: return "io";
  }
  return "unknown";
}

namespace invariants {
void check_failed(const char* condition, const char* file, int line) {
  throw std::logic_error(fmt::format("{}:{}: broken invariant: {}", file, line, condition));
}
}  // namespace invariants

}  // namespace foretrace
