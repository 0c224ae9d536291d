// Parts of a streams file that have readers of their own.
#pragma once

#include <string>
#include <vector>

#include "apps/extras/frames/streams.h"
#include "sim/core/config.h"

namespace foretrace {

/// {"devices", "period", "deadline", "stages", "variants", "guests", ...}
[[nodiscard]] Status read_control(const ConfigValue& value, const std::string& where,
                                  const std::string& pointer, LoopRequest& control);
/// {"bandwidth", "buffers", "subnets", "wishes", ...}: one network per buffer.
[[nodiscard]] Status read_supernet(const ConfigValue& value, const std::string& where,
                                   const std::string& pointer,
                                   std::vector<streams::SuperNet>& buffers);

}  // namespace foretrace
