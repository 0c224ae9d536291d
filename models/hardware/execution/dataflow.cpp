// A spatial accelerator: processing elements fed by stream ports, a scratchpad between them and
// memory.
#include <algorithm>
#include <array>
#include <cmath>

#include "models/hardware/execution/array_parts.h"
#include "models/hardware/execution/exec_model.h"

namespace foretrace::dataflow_parts {
namespace {

using execution::clock_param;
using execution::depth_param;
using execution::dispatch_param;
using execution::interval_param;

constexpr ParamInfo elements_param = {.name = "pe",
                                      .type = ParamType::integer,
                                      .unit = "1",
                                      .doc = "Processing elements: products of one start.",
                                      .minimum = 1,
                                      .maximum = 1e7};
constexpr ParamInfo ports_param = {.name = "stream_ports",
                                   .type = ParamType::integer,
                                   .unit = "1",
                                   .doc = "Ports through which streams enter and leave.",
                                   .minimum = 1,
                                   .maximum = 1e6};
constexpr ParamInfo port_bytes_param = {.name = "port_bytes",
                                        .unit = "1",
                                        .doc = "Bytes that a port moves per cycle.",
                                        .minimum = 1e-3,
                                        .maximum = 1e6};
constexpr ParamInfo scratchpad_param = {
    .name = "scratchpad",
    .type = ParamType::bytes,
    .unit = "KiB",
    .default_text = "0 B",
    .doc = "Memory beside the elements; 0: each number is streamed once.",
    .minimum = 0,
    .maximum = 1e15};

ExecTime time(const ParamValues& params, const ExecDevice& device, const OperatorWork& work) {
  // Streams pass the ports on their way from memory: the slower of both decides.
  const double ports = params.number(ports_param) * params.number(port_bytes_param) *
                       params.number(clock_param) * 1e-3;
  ExecTime time = execution::loads(params, work, params.number(scratchpad_param),
                                   std::min(device.bytes_per_ns, ports));
  const double items = work.kind == WorkKind::vector ? work.numbers : work.multiplications();
  time.compute = execution::pipelined_ns(params, std::ceil(items / params.number(elements_param)));
  return time;
}

constexpr std::array<std::string_view, 3> assumptions = {
    "The compiler maps every operator so that all elements have work in each start.",
    "Streams are sequential: a port moves its bytes in every cycle.",
    "Streams run beside the arithmetic; blocks are chosen as well as they can be."};
constexpr std::array<std::string_view, 3> ignores = {
    "the network between elements", "control and reconfiguration between operators",
    "area: whether so many elements, ports and bytes fit on a chip"};
constexpr std::array params = {elements_param, interval_param,   depth_param,      clock_param,
                               ports_param,    port_bytes_param, scratchpad_param, dispatch_param};

}  // namespace

extern constexpr ExecModelInfo info = {
    .name = "dataflow",
    .summary = "A spatial accelerator: elements, stream ports, a scratchpad.",
    .paper = "J. Weng et al., DSAGEN: Synthesizing Programmable Spatial Accelerators, ISCA 2020",
    .recipe =
        "The longer of ii x ceil(multiplications / pe) + depth cycles and the streamed bytes "
        "over stream_ports x port_bytes per cycle, or over the bandwidth of memory if that is "
        "lower.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "ii and depth stand in the schedule of the compiler.",
    .params = params,
    .time = time};

}  // namespace foretrace::dataflow_parts
