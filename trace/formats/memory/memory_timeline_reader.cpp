// Reader of what PyTorch's memory profiler exports (export_memory_timeline), both as JSON:
//
//   [[1712707009634059, ...], [[0, 400468480, 0, 32256, 0, 0, 0, 0, 0], ...]]
//     times in us              at each: a column that is always 0, then bytes per category
//   [[-1, 1, 37888, 7], ...]
//     |   |  |      category
//     |   |  bytes (a free is negative)
//     |   action
//     raw: time in ns (-1: before the profile)
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "trace/formats/common/describe_format.h"
#include "trace/formats/common/strict.h"
#include "trace/formats/json/json_cursor.h"
#include "trace/formats/json/number.h"
#include "trace/formats/json/scan.h"
#include "trace/formats/reader.h"
#include "trace/io/text.h"

namespace foretrace::trace::readers::memory_timeline_parts {
namespace {

// torch/profiler/_memory_profiler.py: the order of Category in the exports.
constexpr std::array<std::string_view, 8> categories = {
    "parameter",  "optimizer state", "input",           "temporary",
    "activation", "gradient",        "autograd detail", "unknown"};
constexpr std::size_t most_categories = 64;
constexpr std::int64_t most_bytes = std::int64_t{1} << 56U;  // sums of all categories fit 64 bits
constexpr std::int64_t latest_us = std::int64_t{1} << 51U;   // as ns below 2^61

// Numbers of a list that starts at `at`, as far as they are there; false if anything else stands
// in it. `at` moves behind it.
bool plain_numbers(std::string_view text, std::size_t& at, std::size_t& count) {
  count = 0;
  for (++at; at < text.size() && text[at] != ']'; ++at) {
    const char c = text[at];
    const bool digit = (c >= '0' && c <= '9') || c == '-';
    if (!digit && c != ',' && c != '.' && !formats::is_blank(c)) return false;
    count += c == ',' ? 1 : 0;
  }
  ++at;
  ++count;
  return true;
}

Confidence sniff(std::string_view prefix) {
  const formats::JsonOutline outline = formats::outline_of(prefix);
  if (!outline.is_array || !outline.first_element.starts_with('[')) return Confidence::no;
  const std::string_view text = prefix.substr(prefix.find('[') + 1);
  std::size_t at = text.find('[');
  std::size_t count = 0;
  if (!plain_numbers(text, at, count)) return Confidence::no;
  while (at < text.size() && (formats::is_blank(text[at]) || text[at] == ',')) {
    ++at;
  }
  const bool lists = at + 1 < text.size() && text[at] == '[' && text[at + 1] == '[';
  const bool rows = at < text.size() && (text[at] == '[' || text[at] == ']') && count == 4;
  return lists || rows || at >= text.size() ? Confidence::yes : Confidence::no;
}

class Document {
 public:
  Document(ByteSource& source, const ReadOptions& options, LoadedTrace& trace)
      : cursor_(source, options.progress),
        trace_(trace),
        memory_(trace.content.emplace<MemoryTimeline>()) {}

  Status read() {
    if (cursor_.enter('[') && cursor_.next(']') && cursor_.enter('[')) {
      std::vector<std::int64_t> first = numbers();
      const bool more = cursor_.sound() && cursor_.next(']') && cursor_.enter('[');
      if (more && cursor_.peek() == '[') {
        read_samples(std::move(first));
      } else {
        read_raw(first, more);
      }
    }
    FORETRACE_TRY(cursor_.source_status());
    cursor_.report_end(trace_.report, fmt::format("{} samples", memory_.size()));
    if (memory_.size() == 0) {
      return Error{ErrorCode::bad_format,
                   fmt::format("{}: has no samples of a memory timeline", trace_.events.info.path)};
    }
    trace_.report.kept = trace_.report.events - trace_.report.dropped();
    return ok_status();
  }

 private:
  // The rest of a list of whole numbers; what is none counts as 0.
  std::vector<std::int64_t> numbers() {
    std::vector<std::int64_t> list;
    while (cursor_.next(']')) {
      const std::string_view text = cursor_.value(trace_.report);
      if (!cursor_.sound()) break;
      const auto number = formats::integer_from(text);
      if (!number) {
        trace_.report.count(DamageKind::repaired, "no whole number", cursor_.offset(),
                            shortened(text, 40));
      }
      list.push_back(number.value_or(0));
    }
    return list;
  }

  std::int64_t bounded(std::int64_t bytes) {
    if (bytes > most_bytes || bytes < -most_bytes) {
      trace_.report.count(DamageKind::repaired, "bytes out of range", cursor_.offset(),
                          fmt::format("{}", bytes));
      return 0;
    }
    return bytes;
  }

  void name_categories(std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) {
      memory_.categories.emplace_back(i < categories.size() ? std::string(categories[i])
                                                            : fmt::format("category {}", i));
    }
  }

  // Times are in order in what PyTorch writes; one that goes back counts as the one before it.
  std::int64_t in_order(std::int64_t time) {
    if (!memory_.time_ns.empty() && time < memory_.time_ns.back()) {
      trace_.report.count(DamageKind::repaired, "time goes back", cursor_.offset(),
                          fmt::format("{}", time));
      return memory_.time_ns.back();
    }
    return time;
  }

  void read_samples(std::vector<std::int64_t> times) {
    std::size_t width = 0;
    std::size_t row = 0;
    while (cursor_.next(']') && cursor_.enter('[')) {
      const std::vector<std::int64_t> sizes = numbers();
      ++trace_.report.events;
      if (!cursor_.sound() || row >= times.size()) break;
      if (row == 0) {
        width = std::min(sizes.size(), most_categories);
        // PyTorch's rows have a column in front that it never fills.
        name_categories(width == categories.size() + 1 ? width - 1 : width);
      }
      const std::size_t skip = width - memory_.categories.size();
      const std::int64_t time = times[row];
      if (sizes.size() != width || time > latest_us || time < 0) {
        trace_.report.count(DamageKind::dropped,
                            sizes.size() != width ? "sample with another number of categories"
                                                  : "time out of range",
                            cursor_.offset(), fmt::format("sample {}", row));
      } else {
        memory_.time_ns.push_back(in_order(time * 1000));
        for (std::size_t i = skip; i < width; ++i) {
          memory_.bytes.push_back(bounded(sizes[i]));
        }
      }
      ++row;
    }
    if (cursor_.sound() && row != times.size()) {
      trace_.report.warnings.push_back(
          fmt::format("{} times and {} samples: the others were left out", times.size(), row));
    }
    make_relative();
  }

  void read_raw(const std::vector<std::int64_t>& first, bool more) {
    name_categories(categories.size());
    add_raw(first);
    while (more) {  // inside the next row
      const std::vector<std::int64_t> row = numbers();
      if (!cursor_.sound()) break;
      add_raw(row);
      more = cursor_.next(']') && cursor_.enter('[');
    }
    make_relative();
  }

  void add_raw(const std::vector<std::int64_t>& row) {
    ++trace_.report.events;
    constexpr std::int64_t latest_ns = latest_us * 1000;
    const bool fits = row.size() == 4 && row[0] >= -1 && row[0] <= latest_ns && row[3] >= 0 &&
                      row[3] < static_cast<std::int64_t>(categories.size());
    if (!fits) {
      trace_.report.count(DamageKind::dropped, "no row of time, action, bytes and category",
                          cursor_.offset(), fmt::format("{} numbers", row.size()));
      return;
    }
    std::int64_t& level = level_[static_cast<std::size_t>(row[3])];
    const std::int64_t changed = level + bounded(row[2]);
    level = std::clamp(changed, -most_bytes, most_bytes);
    const std::int64_t time = row[0] < 0 ? -1 : in_order(row[0]);
    if (memory_.time_ns.empty() || memory_.time_ns.back() != time) {
      memory_.time_ns.push_back(time);
      memory_.bytes.insert(memory_.bytes.end(), level_.begin(), level_.end());
    } else {
      std::copy(level_.begin(), level_.end(),
                memory_.bytes.end() - static_cast<std::ptrdiff_t>(level_.size()));
    }
  }

  // What was there before the profile has no time: it counts as there from the first one on.
  void make_relative() {
    std::int64_t first = 0;
    for (const std::int64_t time : memory_.time_ns) {
      if (time >= 0) {
        first = time;
        break;
      }
    }
    memory_.first_time_ns = first;
    for (std::int64_t& time : memory_.time_ns) {
      time = std::max<std::int64_t>(0, time - first);
    }
  }

  formats::JsonCursor cursor_;
  LoadedTrace& trace_;
  MemoryTimeline& memory_;
  std::array<std::int64_t, categories.size()> level_{};
};

Result<LoadedTrace> read(ByteSource& source, const ReadOptions& options) {
  return formats::read_by<Document>(source, options, "memory_timeline");
}

}  // namespace

extern constexpr ReaderInfo info = {
    .name = "memory_timeline",
    .summary = "PyTorch memory timelines (export_memory_timeline), JSON and raw",
    .suffixes = ".json .json.gz",
    .sniff = sniff,
    .read = read,
};

}  // namespace foretrace::trace::readers::memory_timeline_parts
