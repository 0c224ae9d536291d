// What the collective operations of a rank communicate, where nothing is known of its peers.
#pragma once

#include "trace/rules/assembly/assembly.h"

namespace foretrace::trace::rules {

/// Kind, bytes and group of collective operations, for a graph of this rank alone.
void describe_collectives(Assembly& assembly);

}  // namespace foretrace::trace::rules
