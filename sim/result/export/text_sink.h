// Where text goes that is written piece by piece.
#pragma once

#include <functional>
#include <string_view>

namespace foretrace {

/// Takes text piece by piece; false stops the writing.
using TextSink = std::function<bool(std::string_view)>;

}  // namespace foretrace
