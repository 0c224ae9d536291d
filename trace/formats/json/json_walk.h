// Walks a JSON document of any size and hands over the values at the paths a reader asks for.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "sim/core/result.h"
#include "trace/formats/json/value_reader.h"
#include "trace/table/loaded_trace.h"

namespace foretrace::trace::formats {

/// One value is in memory at a time. Paths are "key/[]/key": "[]" for every element of a list.
class JsonWalk {
 public:
  struct Events {
    /// Enter this object or list? Values that are not entered are taken whole.
    std::function<bool(std::string_view path)> enter;
    /// A list or an object that was entered is done.
    std::function<void(std::string_view path)> leave;
    /// A value that is not entered, with scan_padding bytes behind it.
    std::function<void(std::string_view path, std::string_view value, std::uint64_t offset)> take;
    /// Something that cannot be read, and where.
    std::function<void(std::string_view reason, std::uint64_t offset)> damage;
  };

  JsonWalk(ByteSource& source, const ReadOptions& options, Events events)
      : reader_(source, options.progress), events_(std::move(events)) {}

  /// To the end, or to where nothing more can be made of the text: told as damage. Errors: the
  /// source cannot be read.
  [[nodiscard]] Status walk();
  [[nodiscard]] std::uint64_t bytes() { return reader_.buffer().offset_of(reader_.buffer().at()); }

 private:
  /// Values are walked recursively to this depth and taken whole below it.
  static constexpr std::uint32_t deepest = 64;

  void walk_value(std::string& path);
  void walk_object(std::string& path);
  void walk_list(std::string& path);
  void take_value(const std::string& path);
  /// The end of a container, a comma before the next member, or damage. True: go on.
  [[nodiscard]] bool goes_on(char closer);
  void stop(std::string_view reason);

  ValueReader reader_;
  Events events_;
  bool stopped_ = false;
  std::uint32_t depth_ = 0;
};

}  // namespace foretrace::trace::formats
