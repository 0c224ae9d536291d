// Any bytes as a trace, from its format to a graph that is simulated: rules see what readers let
// through.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sim/engine/pull/pull.h"
#include "sim/graph/validate.h"
#include "trace/assemble/build_graph.h"
#include "trace/formats/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes are text here
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto loaded =
      foretrace::trace::read_source(foretrace::trace::open_memory(bytes, "fuzz"), {});
  if (!loaded.ok()) {
    return 0;
  }
  const auto built = foretrace::trace::build_graph(*loaded);
  if (!built.ok()) {
    if (built.error().message.empty()) std::abort();
    return 0;
  }
  if (!foretrace::validate(built->graph).ok()) std::abort();
  if (foretrace::simulate(built->graph).span_ns < 0) std::abort();
  return 0;
}
