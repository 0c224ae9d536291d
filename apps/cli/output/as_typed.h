// Errors of the library name what was asked for; a user of the command line reads how it is typed.
#pragma once

#include <string>

namespace foretrace::app {

/// "memory budget: got ..." becomes "--memory-budget: got ...", "give the rate of the network"
/// becomes "give the rate with --network-bandwidth", "it is a scenario" becomes "simulate takes it".
/// What names nothing of the kind stays as it is.
[[nodiscard]] std::string as_typed(std::string message);

}  // namespace foretrace::app
