// An FPGA's multipliers (DSP blocks) as one pool: each has more lanes the narrower the numbers.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "models/hardware/execution/array_parts.h"
#include "models/hardware/execution/exec_model.h"

namespace foretrace::dsp_array_parts {
namespace {

using execution::clock_param;
using execution::depth_param;
using execution::dispatch_param;
using execution::interval_param;

constexpr ParamInfo units_param = {.name = "units",
                                   .type = ParamType::integer,
                                   .unit = "1",
                                   .doc = "DSP blocks that the design uses.",
                                   .minimum = 1,
                                   .maximum = 1e7};
constexpr ParamInfo available_param = {.name = "units_available",
                                       .type = ParamType::integer,
                                       .unit = "1",
                                       .default_text = "0",
                                       .doc = "DSP blocks of the part; 0: not checked.",
                                       .minimum = 0,
                                       .maximum = 1e7};
constexpr ParamInfo lanes_8_param = {.name = "lanes_8",
                                     .unit = "1",
                                     .default_text = "1",
                                     .doc = "Products of up to 8 bits per block and cycle.",
                                     .minimum = 1e-3,
                                     .maximum = 64};
constexpr ParamInfo lanes_16_param = {.name = "lanes_16",
                                      .unit = "1",
                                      .default_text = "1",
                                      .doc = "The same of up to 16 bits.",
                                      .minimum = 1e-3,
                                      .maximum = 64};
constexpr ParamInfo lanes_32_param = {.name = "lanes_32",
                                      .unit = "1",
                                      .default_text = "0.25",
                                      .doc =
                                          "The same of up to 32 bits: below 1, a product takes "
                                          "several blocks.",
                                      .minimum = 1e-3,
                                      .maximum = 64};
constexpr ParamInfo bits_param = {.name = "bits",
                                  .type = ParamType::integer,
                                  .unit = "1",
                                  .default_text = "0",
                                  .doc =
                                      "Width of operands and results, in the place of the "
                                      "precision of the scenario; 0: as there.",
                                  .minimum = 0,
                                  .maximum = 32};
constexpr ParamInfo buffer_param = {
    .name = "buffer",
    .type = ParamType::bytes,
    .unit = "KiB",
    .default_text = "0 B",
    .doc = "Block RAM for operands that are reused; 0: each number is loaded once.",
    .minimum = 0,
    .maximum = 1e15};
constexpr ParamInfo ram_param = {.name = "ram_available",
                                 .type = ParamType::bytes,
                                 .unit = "KiB",
                                 .default_text = "0 B",
                                 .doc = "Block RAM of the part; 0: not checked.",
                                 .minimum = 0,
                                 .maximum = 1e15};

double bits_of(const ParamValues& params, const OperatorWork& work) {
  const double stated = params.number(bits_param);
  return stated > 0 ? stated : 8 * work.number_bytes;
}

double lanes_of(const ParamValues& params, double bits) {
  if (bits <= 8) return params.number(lanes_8_param);
  return params.number(bits <= 16 ? lanes_16_param : lanes_32_param);
}

void change_work(const ParamValues& params, OperatorWork& work) {
  const double factor = bits_of(params, work) / (8 * work.number_bytes);
  for (double* bytes : {&work.input_bytes, &work.weight_bytes, &work.output_bytes})
    *bytes *= factor;
  work.number_bytes *= factor;
}

ExecTime time(const ParamValues& params, const ExecDevice& device, const OperatorWork& work) {
  ExecTime time = execution::loads(params, work, params.number(buffer_param), device.bytes_per_ns);
  const double lanes = params.number(units_param) * lanes_of(params, 8 * work.number_bytes);
  const double items = work.kind == WorkKind::vector ? work.numbers : work.multiplications();
  time.compute = execution::pipelined_ns(params, std::ceil(items / lanes));
  return time;
}

Status check(const ParamValues& params) {
  const double units = params.number(units_param);
  const double available = params.number(available_param);
  if (available > 0 && units > available) {
    return Error{
        ErrorCode::bad_config,
        fmt::format("parameter 'units': got {:.0f}, expected at most the {:.0f} of the part", units,
                    available)};
  }
  const double buffer = params.number(buffer_param);
  const double ram = params.number(ram_param);
  if (ram > 0 && buffer > ram) {
    return Error{
        ErrorCode::bad_config,
        fmt::format("parameter 'buffer': got {:.0f} B, expected at most the {:.0f} B of the "
                    "part",
                    buffer, ram)};
  }
  return ok_status();
}

constexpr std::array<std::string_view, 3> assumptions = {
    "All blocks of the design are busy in every cycle but the last of an operator.",
    "Numbers of fewer bits take as many bytes as bits / 8: they are packed.",
    "Loads run beside the arithmetic; blocks are chosen as well as they can be."};
constexpr std::array<std::string_view, 3> ignores = {
    "logic (LUT) and routing, which lower the clock of full parts", "compile time",
    "accuracy at fewer bits"};
constexpr std::array params = {units_param,    available_param, lanes_8_param, lanes_16_param,
                               lanes_32_param, bits_param,      clock_param,   interval_param,
                               depth_param,    buffer_param,    ram_param,     dispatch_param};

}  // namespace

extern constexpr ExecModelInfo info = {
    .name = "dsp_array",
    .summary = "The DSP blocks of an FPGA, with lanes by the width of the numbers.",
    .paper =
        "L. Vega et al., Reticle: A Virtual Machine for Programming Modern FPGAs, PLDI 2021; "
        "Y.-H. Lai et al., HeteroCL, FPGA 2019",
    .recipe =
        "ii x ceil(multiplications / (units x lanes)) + depth cycles; lanes by the bits of a "
        "number. Beside it the bytes at the bandwidth; the longer one counts.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "units, lanes, clock_mhz, ii and depth stand in the report of the synthesis.",
    .params = params,
    .time = time,
    .change_work = change_work,
    .check = check};

}  // namespace foretrace::dsp_array_parts
