#include "trace/formats/json/json_walk.h"

#include "trace/formats/json/number.h"
#include "trace/io/text.h"

namespace foretrace::trace::formats {

Status JsonWalk::walk() {
  std::string path;
  walk_value(path);
  if (reader_.buffer().error()) return *reader_.buffer().error();
  return ok_status();
}

void JsonWalk::stop(std::string_view reason) {
  if (!stopped_) {
    events_.damage(reason, reader_.buffer().offset_of(reader_.buffer().at()));
  }
  stopped_ = true;
}

bool JsonWalk::goes_on(char closer) {
  if (stopped_) return false;
  const char c = reader_.peek();
  if (c == closer) {
    reader_.skip_byte();
    return false;
  }
  if (c == ',') {
    reader_.skip_byte();
    return true;
  }
  stop(reader_.at_end() ? "text ends early" : "no valid JSON from here on");
  return false;
}

void JsonWalk::walk_value(std::string& path) {
  const char c = reader_.peek();
  const bool enters = (c == '{' || c == '[') && depth_ < deepest && events_.enter(path);
  if (!enters) {
    take_value(path);
    return;
  }
  const std::size_t length = path.size();
  ++depth_;
  if (c == '{') {
    walk_object(path);
  } else {
    walk_list(path);
  }
  --depth_;
  path.resize(length);
  events_.leave(path);
}

void JsonWalk::walk_object(std::string& path) {
  reader_.skip_byte();
  if (reader_.peek() == '}') {
    reader_.skip_byte();
    return;
  }
  const std::size_t length = path.size();
  do {
    if (reader_.peek() != '"') {
      stop(reader_.at_end() ? "text ends early" : "no valid JSON from here on");
      return;
    }
    const ValueReader::Taken key = reader_.take();
    if (key.outcome != ValueReader::Outcome::value) {
      stop(key.outcome == ValueReader::Outcome::cut_off ? "text ends early"
                                                        : "no valid JSON from here on");
      return;
    }
    path += length == 0 ? "" : "/";
    path += unescaped(without_quotes(key.text));
    if (reader_.peek() != ':') {
      stop(reader_.at_end() ? "text ends early" : "no valid JSON from here on");
      return;
    }
    reader_.skip_byte();
    walk_value(path);
    path.resize(length);
  } while (goes_on('}'));
}

void JsonWalk::walk_list(std::string& path) {
  reader_.skip_byte();
  if (reader_.peek() == ']') {
    reader_.skip_byte();
    return;
  }
  const std::size_t length = path.size();
  path += length == 0 ? "[]" : "/[]";
  do {
    walk_value(path);
  } while (goes_on(']'));
  path.resize(length);
}

void JsonWalk::take_value(const std::string& path) {
  if (reader_.at_end()) {
    stop("text ends early");
    return;
  }
  const ValueReader::Taken taken = reader_.take();
  switch (taken.outcome) {
    case ValueReader::Outcome::value: events_.take(path, taken.text, taken.offset); return;
    case ValueReader::Outcome::too_deep:
      events_.damage("value nested too deeply", taken.offset);
      return;
    case ValueReader::Outcome::too_long:
      events_.damage("value too long", taken.offset);
      if (!reader_.skip_rest()) {
        stop("text ends early");
      }
      return;
    case ValueReader::Outcome::cut_off: stop("text ends early"); return;
    case ValueReader::Outcome::broken_line:
    case ValueReader::Outcome::mismatch: stop("no valid JSON from here on"); return;
  }
}

}  // namespace foretrace::trace::formats
