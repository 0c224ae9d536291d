// Random served models for laws: every shipped decoder, engine and machine, and every field of a run.
#pragma once

#include <cstdint>
#include <string>

#include "apps/serving/serving.h"

namespace foretrace::test {

/// A run of requests by its number, as its file says it; about every second one is valid.
[[nodiscard]] std::string random_service_text(std::uint64_t number);

/// The same run on another machine; its cache has as many blocks as before.
[[nodiscard]] Serving on_cluster(Serving serving, const Cluster& cluster);

}  // namespace foretrace::test
