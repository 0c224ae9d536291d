#include "trace/formats/json/json_cursor.h"

#include <fmt/format.h>

#include "trace/io/text.h"

namespace foretrace::trace::formats {

JsonCursor::JsonCursor(ByteSource& source, const ValueReader::Progress& progress)
    : source_(source), reader_(source, progress) {
  reader_.refill();
  ChunkBuffer& buffer = reader_.buffer();
  if (std::string_view(buffer.at(), buffer.size()).starts_with("\xEF\xBB\xBF")) {
    buffer.move_to(buffer.at() + 3);  // byte order mark
  }
}

bool JsonCursor::enter(char bracket) {
  if (!sound() || peek() != bracket) return false;
  reader_.skip_byte();
  return true;
}

bool JsonCursor::next(char closing) {
  while (sound()) {
    const char c = peek();
    if (c == ',') {
      reader_.skip_byte();
      continue;
    }
    offset_ = reader_.buffer().offset_of(reader_.buffer().at());
    if (c == closing) {
      reader_.skip_byte();
      return false;
    }
    if (at_end()) {
      cut_off_ = true;
      return false;
    }
    if (c == '}' || c == ']' || c == ':') {
      broken_ = true;
      return false;
    }
    return true;
  }
  return false;
}

std::string JsonCursor::key() {
  offset_ = reader_.buffer().offset_of(reader_.buffer().at());
  const ValueReader::Taken taken = peek() == '"' ? reader_.take() : ValueReader::Taken{};
  if (taken.outcome == ValueReader::Outcome::cut_off) {
    cut_off_ = true;
    return {};
  }
  if (taken.outcome != ValueReader::Outcome::value || taken.text.size() < 2) {
    broken_ = true;
    return {};
  }
  std::string name = unescaped(taken.text.substr(1, taken.text.size() - 2));
  if (peek() == ':') {
    reader_.skip_byte();
    return name;
  }
  (at_end() ? cut_off_ : broken_) = true;
  return {};
}

std::string_view JsonCursor::value(ImportReport& report) {
  if (!sound()) {
    return {};
  }
  const char first = peek();
  offset_ = reader_.buffer().offset_of(reader_.buffer().at());
  if (at_end() || first == ',' || first == '}' || first == ']' || first == ':') {
    (at_end() ? cut_off_ : broken_) = true;
    return {};
  }
  const ValueReader::Taken taken = reader_.take();
  switch (taken.outcome) {
    case ValueReader::Outcome::value: return taken.text;
    case ValueReader::Outcome::too_deep:
      report.count(DamageKind::dropped, "nested too deeply", taken.offset, taken.text);
      return {};
    case ValueReader::Outcome::too_long:
      report.count(DamageKind::dropped, "longer than 16 MiB", taken.offset, taken.text);
      cut_off_ = !reader_.skip_rest();
      return {};
    case ValueReader::Outcome::cut_off: cut_off_ = true; return {};
    case ValueReader::Outcome::broken_line:
    case ValueReader::Outcome::mismatch: broken_ = true; return {};
  }
  return {};
}

Status JsonCursor::source_status() {
  if (reader_.buffer().error()) return *reader_.buffer().error();
  return ok_status();
}

void JsonCursor::report_end(ImportReport& report, std::string_view what) {
  report.bytes = bytes();
  const std::string_view trouble = source_.trouble();
  report.ends_early = !trouble.empty() || cut_off_;
  if (!trouble.empty()) {
    report.warnings.push_back(fmt::format("{}; {} were read", trouble, what));
  } else if (cut_off_) {
    report.warnings.push_back(
        fmt::format("the file ends early, at byte {}: {} were read", report.bytes, what));
  } else if (broken_) {
    report.warnings.push_back(
        fmt::format("byte {} begins no JSON, reading stopped there: {} were read", offset_, what));
  }
}

}  // namespace foretrace::trace::formats
