// Finds the reader of a file by its content and runs it.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "trace/formats/common/describe_format.h"
#include "trace/formats/common/own_files.h"
#include "trace/formats/reader.h"
#include "trace/io/out_of_memory.h"
#include "trace/io/read_budget.h"

namespace foretrace::trace {
namespace {

constexpr std::size_t prefix_bytes = std::size_t{1} << 20;

struct Choice {
  const ReaderInfo* reader = nullptr;
  Confidence confidence = Confidence::no;
};

Choice choose(std::string_view prefix) {
  Choice best;
  for (const ReaderInfo* reader : readers::all()) {
    const Confidence confidence = reader->sniff(prefix);
    if (confidence > best.confidence) {
      best = {reader, confidence};
    }
  }
  return best;
}

std::string supported() {
  std::string names;
  for (const ReaderInfo* reader : readers::all()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", reader->name);
  }
  return names + " (foretrace list readers)";
}

// The content did not say what it is; the name may. Never used to choose a reader.
std::string hint_of_name(std::string_view path) {
  struct Suffix {
    std::string_view suffix;
    std::string_view hint;
  };
  constexpr std::array suffixes = {
      Suffix{".nsys-rep", "by its name a report of Nsight Systems: nsys export --type sqlite"},
      Suffix{".qdrep", "by its name a report of Nsight Systems: nsys export --type sqlite"},
      Suffix{".ncu-rep", "by its name a report of Nsight Compute, which has no timeline"},
      Suffix{".pftrace", "by its name a trace of Perfetto: record JSON instead"},
      Suffix{".perfetto-trace", "by its name a trace of Perfetto: record JSON instead"},
      Suffix{".rpd", "by its name a database of rocpd: record with rocprofv3 --output-format json"},
  };
  for (const Suffix& known : suffixes) {
    if (path.ends_with(known.suffix)) return fmt::format(" ({})", known.hint);
  }
  return {};
}

Error unknown_format(const std::string& path, std::string_view prefix, std::string_view trouble) {
  std::string what = formats::describe_format(prefix);
  if (prefix.empty() && !trouble.empty()) {
    what = std::string(trouble);
  } else if (what.empty()) {
    what = "has an unknown format";
  }
  return Error{ErrorCode::bad_format,
               fmt::format("{}: {}{}; supported: {}", path, what, hint_of_name(path), supported())};
}

}  // namespace

Result<LoadedTrace> read_trace(const std::string& path, const ReadOptions& options) {
  auto file = Probe::open(path);
  return file ? read_probed(std::move(file).value(), options)
              : Result<LoadedTrace>(std::move(file).error());
}

Result<LoadedTrace> read_source(std::unique_ptr<ByteSource> source, const ReadOptions& options) {
  return read_probed(Probe(std::move(source)), options);
}

Result<LoadedTrace> read_probed(Probe file, const ReadOptions& options) {
  const std::string path(file.path());
  return or_out_of_memory(path, [&]() -> Result<LoadedTrace> {
    FORETRACE_TRY(auto prefix, file.start(prefix_bytes));
    if (const std::string_view own = formats::own_schema(prefix); !own.empty()) {
      const std::string_view kind = formats::kind_of_own(own);
      return Error{
          ErrorCode::bad_format,
          fmt::format("{}: contains {}, expected a trace{}", path, own,
                      kind.empty() ? formats::nearest_own(own) : fmt::format(" (it is {})", kind))};
    }
    const Choice choice = choose(prefix);
    const bool unsure = choice.confidence == Confidence::maybe;
    if (choice.reader == nullptr || (unsure && !formats::describe_format(prefix).empty())) {
      return unknown_format(path, prefix, file.trouble());
    }
    const std::unique_ptr<ByteSource> whole = within(options.budget, std::move(file).take());
    Result<LoadedTrace> trace = choice.reader->read(*whole, options);
    // Some make much of little once they have read it all.
    Status kept = options.budget != nullptr ? options.budget->check(path) : ok_status();
    return kept ? std::move(trace) : Result<LoadedTrace>(std::move(kept).error());
  });
}

}  // namespace foretrace::trace
