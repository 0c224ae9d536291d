// How fast traces are read, against simdjson's on-demand parser over the whole document.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>
#include <zlib.h>

#include "sim/core/name_table.h"
#include "tests/bench/synthetic_trace.h"
#include "trace/formats/reader.h"

namespace foretrace::bench {
namespace {

// What both sides make of every complete event ("ph": "X").
struct Row {
  NameId name{};
  std::int64_t process = 0;
  std::int64_t thread = 0;
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::int64_t correlation = 0;
  std::int64_t external_id = 0;
};

double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// "1697665461611339.123" as ns. A double would lose them.
std::int64_t fixed_point(std::string_view token) {
  std::int64_t value = 0;
  int decimals = -1;
  for (const char c : token) {
    if (c == '.') {
      decimals = 0;
    } else if (c >= '0' && c <= '9' && decimals < 3) {
      value = value * 10 + (c - '0');
      decimals += decimals >= 0 ? 1 : 0;
    } else {
      break;
    }
  }
  for (int i = std::max(decimals, 0); i < 3; ++i) {
    value *= 10;
  }
  return value;
}

// The reader that one writes with simdjson: the whole document, the same columns. It leaves out the
// descriptive arguments, which foretrace interns, and all damage handling.
struct OnDemandTable {
  NameTable names;
  std::vector<std::uint8_t> kind;
  std::vector<NameId> name;
  std::vector<std::uint32_t> track;
  std::vector<std::int64_t> start_ns;
  std::vector<std::int64_t> duration_ns;
  std::vector<std::uint32_t> correlation;
  std::vector<std::uint32_t> external_id;
  std::unordered_map<std::uint64_t, std::uint32_t> tracks;
};

std::int64_t integer_or_text(simdjson::ondemand::value value) {
  std::int64_t number = 0;
  return value.get_int64().get(number) == simdjson::SUCCESS ? number : -1;
}

void read_arguments(simdjson::ondemand::object arguments, Row& row) {
  for (auto field : arguments) {
    const auto key = field.key().value();
    simdjson::ondemand::value value = field.value();
    if (key == "correlation") {
      row.correlation = integer_or_text(value);
    } else if (key == "External id") {
      row.external_id = integer_or_text(value);
    } else if (key == "device") {
      row.process = integer_or_text(value);
    } else if (key == "stream") {
      row.thread = integer_or_text(value);
    }
  }
}

OnDemandTable read_on_demand(const simdjson::padded_string& text) {
  OnDemandTable table;
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document = parser.iterate(text);
  for (simdjson::ondemand::object event : document["traceEvents"].get_array()) {
    Row row;
    std::string_view phase;
    std::string_view category;
    std::string_view name;
    for (auto field : event) {
      const auto key = field.key().value();
      simdjson::ondemand::value value = field.value();
      if (key == "ph") {
        phase = value.get_string();
      } else if (key == "cat") {
        category = value.get_string();
      } else if (key == "name") {
        name = value.get_string();
      } else if (key == "pid") {
        row.process = integer_or_text(value);
      } else if (key == "tid") {
        row.thread = integer_or_text(value);
      } else if (key == "ts") {
        row.start_ns = fixed_point(value.raw_json_token());
      } else if (key == "dur") {
        row.duration_ns = fixed_point(value.raw_json_token());
      } else if (key == "args" && phase == "X") {
        read_arguments(value.get_object(), row);
      }
    }
    if (phase != "X") {
      continue;
    }
    const auto where =
        static_cast<std::uint64_t>(row.process) << 32U ^ static_cast<std::uint64_t>(row.thread);
    const auto next = static_cast<std::uint32_t>(table.tracks.size());
    table.kind.push_back(static_cast<std::uint8_t>(category.size()));
    table.name.push_back(table.names.intern(name));
    table.track.push_back(table.tracks.try_emplace(where, next).first->second);
    table.start_ns.push_back(row.start_ns);
    table.duration_ns.push_back(row.duration_ns);
    table.correlation.push_back(static_cast<std::uint32_t>(row.correlation));
    table.external_id.push_back(static_cast<std::uint32_t>(row.external_id));
  }
  return table;
}

trace::EventTable read_with_foretrace(std::string_view bytes) {
  const auto source = trace::open_memory(bytes, "in memory");
  const auto all = trace::readers::all();
  const auto reader = std::find_if(all.begin(), all.end(),
                                   [](const auto* info) { return info->name == "kineto_json"; });
  auto loaded = (*reader)->read(*source, {});
  return std::move(loaded).value().events;
}

template <typename A, typename B>
bool same(const std::vector<A>& a, const std::vector<B>& b, std::int64_t offset) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [offset](const A& x, const B& y) {
           return static_cast<std::int64_t>(x) + offset == static_cast<std::int64_t>(y);
         });
}

// A ratio of two readers that disagree would mean nothing.
bool same_columns(const trace::EventTable& ours, const OnDemandTable& theirs) {
  bool names = ours.size() == theirs.name.size();
  for (std::size_t i = 0; names && i < ours.size(); ++i) {
    names = ours.names[ours.name[i]] == theirs.names[theirs.name[i]];
  }
  return names && same(ours.start_ns, theirs.start_ns, ours.info.first_time_ns) &&
         same(ours.duration_ns, theirs.duration_ns, 0) &&
         same(ours.correlation, theirs.correlation, 0) &&
         same(ours.external_id, theirs.external_id, 0);
}

std::string gzipped(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// Interleaved runs, so that a busy machine hits all alike; the fastest of each counts.
std::vector<double> fastest_seconds(const std::vector<std::function<void()>>& runs) {
  constexpr int rounds = 7;
  std::vector<double> best(runs.size(), 1e300);
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const double start = thread_cpu_seconds();
      runs[i]();
      best[i] = std::min(best[i], thread_cpu_seconds() - start);
    }
  }
  return best;
}

void add_ratios(std::string_view suffix, const std::string& text, const std::string& zipped,
                std::vector<std::pair<std::string, double>>& out) {
  const simdjson::padded_string padded(text);
  const std::string row = fmt::format("ingest_vs_simdjson_ondemand{}", suffix);
  if (!same_columns(read_with_foretrace(text), read_on_demand(padded))) {
    fmt::print(stderr, "{}: the two readers disagree\n", row);
    out.emplace_back(row, 0.0);
    return;
  }
  const std::vector<double> seconds = fastest_seconds({
      [&] { read_on_demand(padded); },
      [&] { read_with_foretrace(text); },
      [&] { read_with_foretrace(zipped); },
  });
  const double megabytes = static_cast<double>(text.size()) / 1e6;
  fmt::print(stderr, "ingest{}: {:.1f} MB; MB/s: simdjson {:.0f}, plain {:.0f}, gz {:.0f}\n",
             suffix, megabytes, megabytes / seconds[0], megabytes / seconds[1],
             megabytes / seconds[2]);
  out.emplace_back(row, seconds[0] / seconds[1]);
  out.emplace_back(fmt::format("ingest_gz_vs_plain{}", suffix), seconds[1] / seconds[2]);
}

std::string file_bytes(const std::filesystem::path& path) {
  std::string bytes;
  if (std::FILE* file = std::fopen(path.c_str(), "rb")) {
    bytes.resize(std::filesystem::file_size(path));
    bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
    std::fclose(file);
  }
  return bytes;
}

std::string inflated(const std::string& zipped) {
  const auto source = trace::open_memory(zipped, "in memory");
  std::string text;
  std::string piece(std::size_t{1} << 20, '\0');
  while (true) {
    const auto got = source->read(piece);
    if (!got || *got == 0) {
      return text;
    }
    text.append(piece, 0, *got);
  }
}

}  // namespace

/// Rows of ratios.json: how many times as fast as the peer.
void ingest_ratios(std::vector<std::pair<std::string, double>>& out) {
  constexpr std::size_t plain_bytes = std::size_t{64} << 20;
  const std::string text = synthetic_trace(plain_bytes);
  add_ratios("", text, gzipped(text), out);
#ifdef FORETRACE_SHARED_DIR
  const std::string zipped =
      file_bytes(FORETRACE_SHARED_DIR "/traces/saf_amg/o18_baseline_a100.json.gz");
  if (!zipped.empty()) {
    add_ratios("_real", inflated(zipped), zipped, out);
  }
#endif
}

}  // namespace foretrace::bench
