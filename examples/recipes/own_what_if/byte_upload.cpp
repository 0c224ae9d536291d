// Byte upload: images go to the device as 8-bit integers and become floats there.
//
//   before   host --copy fp32 (1.2 ms)--> device: conv ...
//   after    host --copy int8 (0.3 ms)--> device: conv ...
#include <array>
#include <cmath>

#include <foretrace/edit/editor.h>
#include <foretrace/edit/selection.h>
#include <foretrace/what_if.h>

namespace foretrace {
namespace {

constexpr ParamInfo select_param = {.name = "select",
                                    .type = ParamType::selection,
                                    .default_text = "kind=copy&name~HtoD",
                                    .doc = "Which copies carry images."};
constexpr ParamInfo ratio_param = {
    .name = "ratio",
    .unit = "x",
    .default_text = "0.25",
    .doc = "Bytes after / bytes before: a byte instead of a 32-bit float.",
    .minimum = 0,
    .maximum = 1};
constexpr ParamInfo fixed_param = {.name = "fixed",
                                   .type = ParamType::time,
                                   .unit = "us",
                                   .default_text = "2 us",
                                   .doc = "Time of an upload of nothing."};

Result<Change> apply(const WhatIfInput& scenario, const ParamValues& params) {
  const TaskGraph& graph = scenario.graph;
  const auto copies = select(graph, params.text(select_param));
  if (!copies) return copies.error();
  const double smaller = params.number(ratio_param);
  const auto fixed = params.integer(fixed_param);
  Editor editor(graph);
  for (const TaskId copy : *copies) {
    const std::int64_t before = graph.duration_ns(copy);
    if (before <= fixed) continue;
    const double moving = static_cast<double>(before - fixed) * smaller;
    // The copy is pageable: the host copies into a staging buffer at a rate that varies by a tenth.
    editor.set_duration(copy, fixed + std::llround(moving), {Provenance::scaled, 0.9F, 1.1F});
  }
  if (editor.change().empty()) {
    return Error{ErrorCode::no_match, "no upload is longer than the fixed time of one"};
  }
  return editor.finish();
}

constexpr std::array<std::string_view, 2> assumptions = {
    "The selected uploads carry images whose values are bytes divided by a constant.",
    "The time of an upload above the fixed part is proportional to its bytes."};
constexpr std::array<std::string_view, 2> ignores = {"the kernel that turns bytes into floats",
                                                     "host time that the loader saves"};
constexpr std::array params = {select_param, ratio_param, fixed_param};

}  // namespace

namespace what_ifs {

extern const WhatIfInfo byte_upload;
constinit const WhatIfInfo byte_upload = {
    .name = "byte_upload",
    .summary = "Send images as bytes and make floats of them on the device.",
    .paper = "none; common practice",
    .recipe = "Every selected upload keeps its fixed time; the rest shrinks with the bytes.",
    .assumptions = assumptions,
    .ignores = ignores,
    .calibrate = "fixed: the time of the smallest uploads in a trace.",
    .params = params,
    .apply = apply};

}  // namespace what_ifs
}  // namespace foretrace
