// Names of what a scheduler deals with: kinds of accelerators, nodes, jobs and what they run.
#pragma once

#include <cstdint>

#include "sim/core/ids.h"

namespace foretrace::scheduling {

enum class KindId : std::uint32_t {};    ///< a kind of accelerator
enum class NodeId : std::uint32_t {};    ///< a machine of the cluster
enum class JobId : std::uint32_t {};     ///< a job; ids follow the order of arrival
enum class TypeId : std::uint32_t {};    ///< what a job runs: a model at a batch size
enum class TenantId : std::uint32_t {};  ///< who it runs for

}  // namespace foretrace::scheduling
