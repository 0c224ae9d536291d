// What a file of trace/rules/host/ and trace/rules/device/ exports: one rule on the way from events
// to tasks.
#pragma once

#include <cstdint>
#include <string_view>

namespace foretrace::trace::rules {

struct Assembly;

/// When a rule runs. Between the two, the ranks of a job are put on one time axis.
enum class Stage : std::uint8_t {
  collect,  ///< what there is: threads, calls, operations
  connect   ///< what waits for what
};

struct Rule {
  std::string_view name;  ///< "event_wait": the name of its file
  std::string_view doc;   ///< one line: what it finds
  Stage stage = Stage::connect;
  bool required = false;  ///< others rest on it: it cannot be left out
  void (*apply)(Assembly& assembly) = nullptr;
};

}  // namespace foretrace::trace::rules
