#include "trace/formats/chrome/document.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "trace/formats/chrome/trace_info.h"
#include "trace/formats/common/strict.h"
#include "trace/io/text.h"

namespace foretrace::trace::formats {
namespace {

// Every resumption may read the buffered text once more, so that there has to be an end.
constexpr std::uint32_t most_resumes = 64;

// Metadata of a run on thousands of devices is below this.
constexpr std::size_t longest_metadata = std::size_t{1} << 22;

constexpr std::array<std::string_view, 17> wanted_keys = {
    "baseTimeNanoseconds", "cuda_driver_version", "cuda_runtime_version", "cupti_version",
    "deviceProperties",    "displayTimeUnit",     "distributedInfo",      "environment",
    "hip_runtime_version", "hip_driver_version",  "profile_memory",       "record_shapes",
    "roctracer_version",   "traceName",           "with_flops",           "with_modules",
    "with_stack"};

bool is_wanted(std::string_view key) {
  return std::find(wanted_keys.begin(), wanted_keys.end(), key) != wanted_keys.end();
}

std::string megabytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

}  // namespace

DocumentWalker::DocumentWalker(ByteSource& source, const ReadOptions& options, ImportReport& report,
                               TableBuilder& builder)
    : source_(source),
      report_(report),
      builder_(builder),
      reader_(source, options.progress),
      resumes_left_(most_resumes) {}

Error DocumentWalker::refusal(std::string_view what) const {
  return Error{ErrorCode::bad_format, fmt::format("{}: {}", source_.path(), what)};
}

Status DocumentWalker::walk() {
  reader_.refill();
  if (std::string_view(reader_.buffer().at(), reader_.buffer().size())
          .starts_with("\xEF\xBB\xBF")) {
    reader_.buffer().move_to(reader_.buffer().at() + 3);  // byte order mark
  }
  const char first = reader_.peek();
  if (first == '[') {
    reader_.skip_byte();
    walk_events();
  } else if (first == '{') {
    reader_.skip_byte();
    FORETRACE_TRY(walk_object());
  } else if (!reader_.buffer().error()) {
    return refusal("is no JSON object or array");
  }
  return finish();
}

Status DocumentWalker::walk_object() {
  while (!stopped_) {
    const char c = reader_.peek();
    if (c == '}') {
      reader_.skip_byte();
      return ok_status();
    }
    if (reader_.at_end()) {
      stop_at_end(End::not_closed);
      return ok_status();
    }
    const std::uint64_t offset = reader_.buffer().offset_of(reader_.buffer().at());
    const auto key = c == '"' ? reader_.take() : ValueReader::Taken{};
    if (key.outcome == ValueReader::Outcome::cut_off) {
      stop_at_end(End::inside_value);
      return ok_status();
    }
    const std::string name =
        key.text.size() >= 2 ? unescaped(key.text.substr(1, key.text.size() - 2)) : std::string();
    if (c != '"' || key.outcome != ValueReader::Outcome::value || reader_.peek() != ':') {
      if (found_events_) {
        report_.warnings.push_back(
            fmt::format("invalid JSON after the events, at byte {}, was left out", offset));
        return ok_status();
      }
      return refusal(fmt::format("is no valid JSON at byte {}: expected a key and ':'", offset));
    }
    reader_.skip_byte();
    if (reader_.peek() == '[' && name == "traceEvents") {
      reader_.skip_byte();
      walk_events();
    } else {
      take_metadata(name);
    }
    if (reader_.peek() == ',') {
      reader_.skip_byte();
    }
  }
  return ok_status();
}

void DocumentWalker::take_metadata(std::string_view key) {
  if (reader_.at_end()) {
    stop_at_end(End::inside_value);
    return;
  }
  const ValueReader::Taken taken = reader_.take();
  if (taken.outcome == ValueReader::Outcome::cut_off ||
      (taken.outcome == ValueReader::Outcome::too_long && !reader_.skip_rest())) {
    reader_.buffer().move_to(reader_.buffer().end());
    stop_at_end(End::inside_value);
  } else if (taken.text.empty()) {
    reader_.skip_byte();  // a stray separator; the caller checks what follows
  } else if (taken.outcome == ValueReader::Outcome::value && is_wanted(key)) {
    if (taken.text.size() > longest_metadata) {
      report_.warnings.push_back(
          fmt::format("\"{}\" has {} and was left out", key, megabytes(taken.text.size())));
      return;
    }
    values_.insert_or_assign(std::string(key), std::string(taken.text));
  }
}

void DocumentWalker::walk_events() {
  found_events_ = true;
  while (!stopped_) {
    const char c = reader_.peek();
    if (c == '{') {
      take_event();
    } else if (c == ',') {
      reader_.skip_byte();
    } else if (c == ']') {
      reader_.skip_byte();
      return;
    } else if (reader_.at_end()) {
      stop_at_end(End::not_closed);
      return;
    } else {
      take_other_element();
    }
  }
}

void DocumentWalker::take_event() {
  ChunkBuffer& buffer = reader_.buffer();
  while (true) {
    const char* at = buffer.at();
    const ScanOutcome outcome = scanner_.scan(at, buffer.end(), fields_);
    if (outcome == ScanOutcome::event) {
      ++report_.events;
      builder_.add(fields_, buffer.offset_of(buffer.at()));
      buffer.move_to(at);
      return;
    }
    if (outcome == ScanOutcome::unexpected || !reader_.refill()) break;
    reserve_once();
  }
  take_unexpected();
}

// Columns that never move are read faster; the file's first part tells how long they will be.
void DocumentWalker::reserve_once() {
  constexpr double enough_text = 1e6;
  constexpr double most_rows = 1e8;
  const ChunkBuffer& buffer = reader_.buffer();
  const auto used = static_cast<double>(buffer.offset_of(buffer.at()));
  const auto consumed = static_cast<double>(source_.consumed());
  if (reserved_ || used < enough_text || consumed <= 0) return;
  reserved_ = true;
  const double inflated = static_cast<double>(buffer.offset_of(buffer.end())) / consumed;
  const double whole = static_cast<double>(source_.file_size()) * inflated;
  const double rows = static_cast<double>(report_.kept) * whole / used;
  builder_.reserve(static_cast<std::size_t>(std::min(rows * 1.05, most_rows)));
}

void DocumentWalker::take_unexpected() {
  const ValueReader::Taken taken = reader_.take_event();
  ++report_.events;
  if (taken.outcome != ValueReader::Outcome::value) {
    take_damaged(taken);
    return;
  }
  std::string reason;
  canonical_ = canonical_event(taken.text, reason);
  if (canonical_.empty()) {
    builder_.drop(fmt::format("invalid JSON: {}", reason), taken.offset, taken.text);
    return;
  }
  const std::size_t size = canonical_.size();
  canonical_.resize(size + scan_padding, '\0');
  const char* at = canonical_.data();
  if (canonical_scanner_.scan(at, canonical_.data() + size, fields_) == ScanOutcome::event) {
    builder_.add(fields_, taken.offset);
  } else {
    builder_.drop("invalid JSON", taken.offset, taken.text);
  }
}

void DocumentWalker::take_damaged(const ValueReader::Taken& taken) {
  switch (taken.outcome) {
    case ValueReader::Outcome::value: return;
    case ValueReader::Outcome::too_deep:
      builder_.drop("nested too deeply", taken.offset, taken.text);
      return;
    case ValueReader::Outcome::too_long: resume("longer than 16 MiB", taken); return;
    case ValueReader::Outcome::cut_off: resume("event is not closed", taken); return;
    case ValueReader::Outcome::broken_line: resume("line ends inside a string", taken); return;
    case ValueReader::Outcome::mismatch: resume("brackets do not match", taken); return;
  }
}

// After an event whose end cannot be found: goes on at the next one.
void DocumentWalker::resume(std::string_view reason, const ValueReader::Taken& taken) {
  const bool cut_off = taken.outcome == ValueReader::Outcome::cut_off;
  const std::string example = shortened(taken.text);
  const std::size_t size = taken.text.size();
  bool resumed = false;
  if (resumes_left_ > 0) {
    --resumes_left_;
    resumed = reader_.skip_to_event_within(size);
    if (!resumed) {
      reader_.skip(size);
      // Braces are missing before the end of the list, most likely.
      const bool list_ends =
          taken.outcome == ValueReader::Outcome::mismatch && reader_.peek() == ']';
      resumed = list_ends || reader_.skip_to_event();
    }
  } else {
    report_.warnings.push_back(
        fmt::format("too many events without an end: reading stopped at byte {}", taken.offset));
  }
  if (resumed) {
    builder_.drop(reason, taken.offset, example);
    return;
  }
  builder_.drop(cut_off ? "event cut off by the end of the file" : reason, taken.offset, example);
  stop_at_end(End::inside_event);
  stopped_ = true;
}

void DocumentWalker::take_other_element() {
  const ValueReader::Taken taken = reader_.take_event();
  if (taken.text.empty()) {  // ':' or '}': something around it is damaged
    reader_.skip_byte();
    builder_.drop("stray text between events", taken.offset, "");
    return;
  }
  ++report_.events;
  const bool whole = taken.outcome == ValueReader::Outcome::value ||
                     taken.outcome == ValueReader::Outcome::too_deep;
  if (whole) {
    builder_.drop("element is not an object", taken.offset, taken.text);
  } else {
    take_damaged(taken);
  }
}

Status DocumentWalker::finish() {
  if (end_ == End::closed && reader_.peek() != '\0') {
    report_.warnings.push_back(
        fmt::format("more text follows the trace at byte {} and was left out",
                    reader_.buffer().offset_of(reader_.buffer().at())));
  }
  if (reader_.buffer().error()) return *reader_.buffer().error();
  report_.bytes = reader_.buffer().offset_of(reader_.buffer().end());
  if (!found_events_) {
    return refusal(end_ == End::closed ? "is JSON without \"traceEvents\""
                                       : "ends before any \"traceEvents\"");
  }
  warn_about_end();
  return ok_status();
}

void DocumentWalker::warn_about_end() {
  const std::string_view trouble = source_.trouble();
  const std::string read =
      fmt::format("{} events in {} of JSON were read", report_.events, megabytes(report_.bytes));
  report_.ends_early = !trouble.empty() || end_ == End::inside_event || end_ == End::inside_value;
  if (!trouble.empty()) {
    const std::uint64_t left =
        source_.file_size() > source_.consumed() ? source_.file_size() - source_.consumed() : 0;
    report_.warnings.push_back(fmt::format(
        "{}: {}; {}", trouble, read,
        left > 0 ? fmt::format("{} of {} compressed bytes are missing", left, source_.file_size())
                 : "the missing amount is unknown"));
    return;
  }
  switch (end_) {
    case End::closed: return;
    case End::not_closed:
      report_.warnings.push_back(fmt::format(
          "the list of events is not closed, the file ends behind a whole event: {}", read));
      return;
    case End::inside_event:
      report_.warnings.push_back(
          fmt::format("the file ends inside an event: {}; the missing amount is unknown", read));
      return;
    case End::inside_value:
      report_.warnings.push_back(fmt::format("the file ends inside its metadata: {}", read));
      return;
  }
}

Result<ChromeDocument> read_chrome(ByteSource& source, const ReadOptions& options,
                                   std::string_view format) {
  LoadedTrace trace = started(source, format);
  TableBuilder builder(trace.events, trace.report);
  DocumentWalker document(source, options, trace.report, builder);
  FORETRACE_TRY(document.walk());
  fill_trace_info(document.values(), trace.events.info, trace.report);
  builder.finish();
  return ChromeDocument{std::move(trace), document.values(), builder.process_names()};
}

}  // namespace foretrace::trace::formats
