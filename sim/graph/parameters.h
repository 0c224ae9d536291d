// What the model of a run consists of: numbers and bytes of its parameters, and the tasks that read
// them. What-ifs edit it, commits carry it; whoever needs gradients, states or weights reads it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/core/ids.h"

namespace foretrace {

enum class ParameterId : std::uint32_t {};

/// Where something lies between steps.
enum class Home : std::uint8_t { device, host };

/// A parameter tensor on one device, or all of the device's whose place in the model nothing tells.
struct Parameter {
  std::int32_t rank = 0;
  std::int32_t device = 0;
  double elements = 0;
  std::uint32_t tensors = 1;
  LayerId layer{};           ///< of what reads it; 0: none
  double trained = 1;        ///< share of the elements that gets a gradient
  double held = 1;           ///< share of the elements that the device updates and keeps states of
  float weight_bytes = 4;    ///< of an element
  float gradient_bytes = 4;  ///< of an element, as it is exchanged
  float state_bytes = 0;     ///< of the optimizer, per trained element
  Home states_at = Home::device;
};

enum class ParameterRole : std::uint8_t {
  read,         ///< the first of the call that reads the parameter in a forward pass
  trains_from,  ///< gradients go back to this task of a forward pass, and no farther
  update        ///< updates parameters
};
struct ParameterUse {
  TaskId task{};
  ParameterId parameter{};  ///< of read; else none
  ParameterRole role = ParameterRole::read;
};

/// How the parameters of one device were counted.
struct ParameterSource {
  std::int32_t rank = 0;
  std::int32_t device = 0;
  std::string_view evidence;  ///< a text of the program: "by the shapes of ..."
};

struct ParameterTable {
  std::vector<Parameter> rows;
  std::vector<ParameterUse> uses;        ///< in no order
  std::vector<ParameterSource> sources;  ///< of every device that has rows
  std::string_view states_evidence;      ///< a text of the program: "Adam, by ..."
};

}  // namespace foretrace
