// Reader of lists of kernels:
//
//   start_us,duration_us,stream,name
//   0,10,7,gemm
#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "trace/formats/common/read_all.h"
#include "trace/formats/common/row_builder.h"
#include "trace/formats/common/strict.h"
#include "trace/formats/reader.h"

namespace foretrace::trace::readers::kernel_csv_parts {
namespace {

constexpr std::string_view head = "start_us,duration_us,stream,name\n";
constexpr std::size_t largest_list = std::size_t{1} << 30U;

Confidence sniff(std::string_view prefix) {
  return prefix.starts_with(head) ? Confidence::yes : Confidence::no;
}

/// The number up to the comma; `line` loses both. False if there is none.
bool take(std::string_view& line, std::int64_t& number) {
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc() || end == line.data() + line.size() || *end != ',') return false;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()) + 1);
  return true;
}

Result<LoadedTrace> read(ByteSource& source, const ReadOptions& options) {
  LoadedTrace trace;
  trace.events.info.format = "kernel_csv";
  trace.events.info.path = std::string(source.path());
  const Result<std::string> text = formats::read_all(source, {}, largest_list);
  if (!text.ok()) return text.error();
  formats::RowBuilder builder(trace.events, trace.report);
  std::uint64_t number = 0;
  for (std::size_t at = head.size(); at < text->size();) {
    const std::size_t end = std::min(text->find('\n', at), text->size());
    std::string_view line(text->data() + at, end - at);
    const formats::RowPlace place{"line", ++number, at};
    std::int64_t start = 0;
    std::int64_t duration = 0;
    std::int64_t stream = 0;
    if (take(line, start) && take(line, duration) && take(line, stream)) {
      builder.add({.kind = EventKind::kernel,
                   .name = builder.intern(line, place),
                   .track = builder.stream(0, 0, stream),
                   .start_ns = start * 1000,
                   .end_ns = (start + duration) * 1000},
                  place);
    } else {
      builder.drop("a line without three numbers", place);
    }
    at = end + 1;
  }
  builder.finish();
  return formats::checked(std::move(trace), source, options);
}

}  // namespace

extern constexpr ReaderInfo info = {
    .name = "kernel_csv",
    .summary = "lists of kernels with start, duration and stream",
    .suffixes = ".csv",
    .sniff = sniff,
    .read = read,
};

}  // namespace foretrace::trace::readers::kernel_csv_parts
