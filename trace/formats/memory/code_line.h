// The line of a program that asked for memory, from the call stack of an allocation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace foretrace::trace::formats {

/// Takes the frames of a stack, innermost first. The innermost one of the program itself tells
/// most: what frameworks and interpreters call below it is the same everywhere.
class CodeLine {
 public:
  void add(std::string_view file, std::int64_t line, std::string_view function);
  /// "model.py:54 attention_scores"; empty without a frame.
  [[nodiscard]] std::string text() const { return own_.empty() ? innermost_ : own_; }

 private:
  std::string innermost_;
  std::string own_;
};

}  // namespace foretrace::trace::formats
