// A figure with its range.
#pragma once

namespace foretrace {

/// A figure with the range in which it may lie.
struct Ranged {
  double typical = 1;
  double low = 1;
  double high = 1;
};

}  // namespace foretrace
