// Reader of PyTorch's allocator snapshots (torch.cuda.memory._snapshot()), pickled or as JSON:
//
//   {"segments": [                                     what the allocator holds at the end
//     {"device": 0, "total_size": 2097152, "blocks": [
//       {"size": 512, "state": "active_allocated"},    in use; "inactive" is cached
//    "device_traces": [[                               per device: how it came to that
//      {"action": "alloc", "addr": 140, "size": 512, "time_us": 1700}, ...
//
// The pickle is read by an own reader of plain containers: nothing in it is run.
#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <simdjson.h>

#include "sim/core/text.h"
#include "trace/formats/common/describe_format.h"
#include "trace/formats/common/read_all.h"
#include "trace/formats/common/strict.h"
#include "trace/formats/json/json_cursor.h"
#include "trace/formats/memory/allocator_history.h"
#include "trace/formats/memory/code_line.h"
#include "trace/formats/memory/pickle.h"
#include "trace/formats/reader.h"

namespace foretrace::trace::readers::memory_snapshot_parts {
namespace {

using formats::AllocatorHistory;
using formats::Pickle;
using formats::PickleKind;

constexpr char pickle_protocol = '\x80';

bool is_pickle(std::string_view prefix) {
  return prefix.size() > 2 && prefix[0] == pickle_protocol && prefix[1] >= 2 && prefix[1] <= 5;
}

Confidence sniff(std::string_view prefix) {
  if (is_pickle(prefix)) {
    // The first key of the dictionary stands behind some instructions.
    constexpr std::size_t start = 64;
    const bool first = contains(prefix.substr(0, start), "segments");
    return first || contains(prefix, "device_traces") ? Confidence::yes : Confidence::no;
  }
  const formats::JsonOutline outline = formats::outline_of(prefix);
  const bool snapshot =
      outline.is_object &&
      (formats::has_key(outline, "device_traces") ||
       (!outline.keys.empty() && !outline.complete && outline.keys.front() == "segments") ||
       formats::has_key(outline, "segments"));
  return snapshot && !formats::has_key(outline, "traceEvents") ? Confidence::yes : Confidence::no;
}

constexpr std::size_t most_frames = 64;

AllocatorHistory::Block block_of(std::string_view state, std::int64_t size, std::string line) {
  constexpr std::int64_t most = std::int64_t{1} << 56U;
  return {AllocatorHistory::block_state(state), size > 0 && size < most ? size : 0,
          std::move(line)};
}

// ---- pickle ----

class PickledSnapshot {
 public:
  PickledSnapshot(const Pickle& pickle, std::size_t bytes, AllocatorHistory& history,
                  ImportReport& report)
      : pickle_(pickle), budget_(bytes), history_(history), report_(report) {}

  // False if the file shares its parts so much that it has more items than bytes.
  bool read() {
    const Pickle::Index root = pickle_.root();
    for (const Pickle::Index segment : items_of(root, "segments")) {
      if (!spend(segment)) return false;
      add_segment(segment);
    }
    std::int32_t device = 0;
    for (const Pickle::Index events : items_of(root, "device_traces")) {
      for (const Pickle::Index event : pickle_.items(events)) {
        if (!spend(event)) return false;
        add_event(device, event);
      }
      ++device;
    }
    return budget_ > 0;
  }

 private:
  // A look at a value costs itself and what is right in it; false once that is more than a file can
  // hold in which nothing is shared.
  bool spend(Pickle::Index value) {
    const std::size_t cost = 1 + pickle_.items(value).size();
    budget_ -= std::min(cost, budget_);
    return budget_ > 0;
  }
  [[nodiscard]] std::span<const Pickle::Index> items_of(Pickle::Index dictionary,
                                                        std::string_view key) const {
    const Pickle::Index found = pickle_.find(dictionary, key);
    const bool list = found != Pickle::absent && pickle_.kind(found) == PickleKind::list;
    return list ? pickle_.items(found) : std::span<const Pickle::Index>();
  }
  [[nodiscard]] std::int64_t number(Pickle::Index dictionary, std::string_view key,
                                    std::int64_t otherwise) const {
    const Pickle::Index found = pickle_.find(dictionary, key);
    return found == Pickle::absent ? otherwise : pickle_.integer(found);
  }
  [[nodiscard]] std::string_view text(Pickle::Index dictionary, std::string_view key) const {
    const Pickle::Index found = pickle_.find(dictionary, key);
    return found == Pickle::absent ? std::string_view() : pickle_.text(found);
  }

  void add_segment(Pickle::Index value) {
    if (!is_known(value, "segment")) return;
    AllocatorHistory::Segment segment;
    segment.device = static_cast<std::int32_t>(number(value, "device", 0) & 0xFFFF);
    segment.total_bytes = number(value, "total_size", 0);
    for (const Pickle::Index block : items_of(value, "blocks")) {
      if (!spend(block)) return;
      segment.blocks.push_back(
          block_of(text(block, "state"), number(block, "size", 0), line_of(block)));
    }
    history_.add(segment);
  }

  // Older versions keep the stack of a block in its history.
  [[nodiscard]] std::string line_of(Pickle::Index value) const {
    std::span<const Pickle::Index> frames = items_of(value, "frames");
    const std::span<const Pickle::Index> history = items_of(value, "history");
    if (frames.empty() && !history.empty()) {
      frames = items_of(history.front(), "frames");
    }
    formats::CodeLine line;
    // Stacks are shared by many blocks: they are looked at, but no further than this.
    for (const Pickle::Index frame : frames.first(std::min(frames.size(), most_frames))) {
      line.add(text(frame, "filename"), number(frame, "line", 0), text(frame, "name"));
    }
    return line.text();
  }

  void add_event(std::int32_t device, Pickle::Index value) {
    if (is_known(value, "event")) {
      const std::string_view action = text(value, "action");
      history_.add(device, {.action = action,
                            .bytes = number(value, "size", 0),
                            .time_us = number(value, "time_us", -1),
                            .address = static_cast<std::uint64_t>(number(value, "addr", 0)),
                            .device_free_bytes = number(value, "device_free", -1),
                            .line = action == "oom" ? line_of(value) : std::string()});
    }
  }

  bool is_known(Pickle::Index value, std::string_view what) {
    ++report_.events;
    if (pickle_.kind(value) == PickleKind::dictionary) return true;
    report_.count(DamageKind::dropped, fmt::format("{} is no dictionary", what), 0, "");
    return false;
  }

  const Pickle& pickle_;
  std::size_t budget_;
  AllocatorHistory& history_;
  ImportReport& report_;
};

// A source whose first bytes were looked at.
class FrontedSource final : public ByteSource {
 public:
  FrontedSource(std::string front, ByteSource& rest) : front_(std::move(front)), rest_(rest) {}
  [[nodiscard]] Result<std::size_t> read(std::span<char> buffer) override {
    if (front_.empty() || buffer.empty()) return rest_.read(buffer);
    buffer[0] = front_[0];
    front_.clear();
    FORETRACE_TRY(auto more, rest_.read(buffer.subspan(1)));
    return 1 + more;
  }
  [[nodiscard]] std::uint64_t consumed() const override { return rest_.consumed(); }
  [[nodiscard]] std::uint64_t file_size() const override { return rest_.file_size(); }
  [[nodiscard]] std::string_view trouble() const override { return rest_.trouble(); }
  [[nodiscard]] std::string_view path() const override { return rest_.path(); }

 private:
  std::string front_;
  ByteSource& rest_;
};

Status read_pickle(ByteSource& source, AllocatorHistory& history, ImportReport& report) {
  FORETRACE_TRY(std::string bytes, formats::read_all(source, {}, Pickle::most_bytes));
  report.bytes = bytes.size();
  Result<Pickle> pickle = Pickle::read(bytes);
  if (!pickle) {
    const std::string reason =
        source.trouble().empty() ? pickle.error().message : std::string(source.trouble());
    return Error{pickle.error().code, fmt::format("{}: {}", source.path(), reason)};
  }
  if (!PickledSnapshot(*pickle, bytes.size(), history, report).read()) {
    return Error{ErrorCode::bad_format,
                 fmt::format("{}: the pickle repeats its parts: more items than its {} bytes",
                             source.path(), bytes.size())};
  }
  return ok_status();
}

// ---- JSON ----

class JsonSnapshot {
 public:
  JsonSnapshot(ByteSource& source, const ReadOptions& options, AllocatorHistory& history,
               ImportReport& report)
      : cursor_(source, options.progress), history_(history), report_(report) {}

  Status read() {
    if (!cursor_.enter('{')) return cursor_.source_status();
    while (cursor_.next('}')) {
      const std::string key = cursor_.key();
      if (!cursor_.sound()) break;
      if (key == "segments" && cursor_.enter('[')) {
        each([&](simdjson::dom::object value) { add_segment(value); });
      } else if (key == "device_traces" && cursor_.enter('[')) {
        for (std::int32_t device = 0; cursor_.next(']') && cursor_.enter('['); ++device) {
          each([&](simdjson::dom::object value) { add_event(device, value); });
        }
      } else {
        cursor_.skip(report_);
      }
    }
    cursor_.report_end(report_, fmt::format("{} segments and events", report_.events));
    return cursor_.source_status();
  }

 private:
  template <typename Take>
  void each(const Take& take) {
    while (cursor_.next(']')) {
      const std::string_view text = cursor_.value(report_);
      if (text.empty()) continue;
      ++report_.events;
      simdjson::dom::object object;
      if (parser_.parse(text.data(), text.size(), true).get(object) != simdjson::SUCCESS) {
        report_.count(DamageKind::dropped, "not a JSON object", cursor_.offset(), text);
      } else {
        take(object);
      }
    }
  }

  static std::int64_t number(simdjson::dom::object value, std::string_view key,
                             std::int64_t otherwise) {
    std::int64_t number = 0;
    return value[key].get(number) == simdjson::SUCCESS ? number : otherwise;
  }
  static std::string_view text(simdjson::dom::object value, std::string_view key) {
    std::string_view text;
    return value[key].get(text) == simdjson::SUCCESS ? text : std::string_view();
  }

  void add_segment(simdjson::dom::object value) {
    AllocatorHistory::Segment segment;
    segment.device = static_cast<std::int32_t>(number(value, "device", 0) & 0xFFFF);
    segment.total_bytes = number(value, "total_size", 0);
    simdjson::dom::array blocks;
    if (value["blocks"].get(blocks) == simdjson::SUCCESS) {
      for (const simdjson::dom::element block : blocks) {
        simdjson::dom::object object;
        if (block.get(object) == simdjson::SUCCESS) {
          segment.blocks.push_back(
              block_of(text(object, "state"), number(object, "size", 0), line_of(object)));
        }
      }
    }
    history_.add(segment);
  }

  void add_event(std::int32_t device, simdjson::dom::object value) {
    const std::string_view action = text(value, "action");
    history_.add(device, {.action = action,
                          .bytes = number(value, "size", 0),
                          .time_us = number(value, "time_us", -1),
                          .device_free_bytes = number(value, "device_free", -1),
                          .line = action == "oom" ? line_of(value) : std::string()});
  }

  static std::string line_of(simdjson::dom::object value) {
    simdjson::dom::array frames;
    simdjson::dom::array history;
    if (value["frames"].get(frames) != simdjson::SUCCESS) {
      simdjson::dom::object last;
      const bool found = value["history"].get(history) == simdjson::SUCCESS &&
                         history.at(0).get(last) == simdjson::SUCCESS &&
                         last["frames"].get(frames) == simdjson::SUCCESS;
      if (!found) {
        return {};
      }
    }
    formats::CodeLine line;
    for (const simdjson::dom::element frame : frames) {
      simdjson::dom::object object;
      if (frame.get(object) == simdjson::SUCCESS) {
        line.add(text(object, "filename"), number(object, "line", 0), text(object, "name"));
      }
    }
    return line.text();
  }

  formats::JsonCursor cursor_;
  AllocatorHistory& history_;
  ImportReport& report_;
  simdjson::dom::parser parser_;
};

Result<LoadedTrace> read(ByteSource& source, const ReadOptions& options) {
  LoadedTrace trace = formats::started(source, "memory_snapshot");
  AllocatorHistory history;
  std::string first(1, '\0');
  FORETRACE_TRY(auto got, source.read(first));
  const bool pickled = got == 1 && first[0] == pickle_protocol;
  first.resize(got);
  FrontedSource whole(std::move(first), source);
  FORETRACE_TRY(pickled ? read_pickle(whole, history, trace.report)
                        : JsonSnapshot(whole, options, history, trace.report).read());
  if (history.empty()) {
    return Error{
        ErrorCode::bad_format,
        fmt::format("{}: has no \"segments\" and no \"device_traces\" of a memory snapshot",
                    trace.events.info.path)};
  }
  history.finish(trace);
  trace.report.kept = trace.report.events - trace.report.dropped();
  return formats::checked(std::move(trace), source, options);
}

}  // namespace

extern constexpr ReaderInfo info = {
    .name = "memory_snapshot",
    .summary = "PyTorch allocator snapshots (torch.cuda.memory._snapshot), pickled or JSON",
    .suffixes = ".pickle .json",
    .sniff = sniff,
    .read = read,
};

}  // namespace foretrace::trace::readers::memory_snapshot_parts
