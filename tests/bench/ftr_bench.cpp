// How fast a .ftr file reopens, against the .json.gz that it was made from; both as files.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "tests/bench/engine_ratios.h"
#include "tests/bench/synthetic_trace.h"
#include "trace/formats/reader.h"
#include "trace/formats/writer.h"
#include "trace/io/gzip_sink.h"

namespace foretrace::bench {
namespace {

namespace fs = std::filesystem;

// A folder that is gone at the end.
class Scratch {
 public:
  Scratch() : folder_(fs::temp_directory_path() / fmt::format("foretrace_bench_{}", ::getpid())) {
    fs::create_directories(folder_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  [[nodiscard]] std::string file(std::string_view name) const { return (folder_ / name).string(); }

 private:
  fs::path folder_;
};

class File {
 public:
  explicit File(const std::string& path) : file_(std::fopen(path.c_str(), "wb")) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (file_ != nullptr) {
      std::fclose(file_);
    }
  }
  bool write(std::string_view bytes) {
    return file_ != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size();
  }

 private:
  std::FILE* file_;
};

double wall_seconds_of_reading(const std::string& path) {
  const auto start = std::chrono::steady_clock::now();
  const auto loaded = trace::read_trace(path, {});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return loaded.ok() && loaded->events.size() > 0 ? took.count() : 1e300;
}

void add_rows(std::string_view suffix, const std::string& json, const std::string& ftr,
              Ratios& out) {
  const auto loaded = trace::read_trace(json, {});
  const auto writer = trace::choose_writer(ftr, "");
  if (!loaded.ok() || !writer.ok()) {
    fmt::print(stderr, "ftr{}: cannot be measured\n", suffix);
    return;
  }
  {
    File file(ftr);
    const auto written = trace::write_trace(
        *loaded, **writer, ftr, [&](std::string_view bytes) { return file.write(bytes); });
    if (!written.ok()) {
      fmt::print(stderr, "ftr{}: {}\n", suffix, written.error().message);
      return;
    }
  }
  // In turns, so that a busy machine hits both alike; the fastest of each counts.
  constexpr int rounds = 11;
  double json_seconds = 1e300;
  double ftr_seconds = 1e300;
  for (int round = 0; round < rounds; ++round) {
    json_seconds = std::min(json_seconds, wall_seconds_of_reading(json));
    ftr_seconds = std::min(ftr_seconds, wall_seconds_of_reading(ftr));
  }
  const auto json_bytes = static_cast<double>(fs::file_size(json));
  const auto ftr_bytes = static_cast<double>(fs::file_size(ftr));
  fmt::print(stderr, "ftr{}: {} events; .json.gz {:.2f} MB {:.1f} ms, .ftr {:.2f} MB {:.2f} ms\n",
             suffix, loaded->events.size(), json_bytes / 1e6, json_seconds * 1e3, ftr_bytes / 1e6,
             ftr_seconds * 1e3);
  out.emplace_back(fmt::format("ftr_vs_gz_json{}", suffix), json_seconds / ftr_seconds);
  out.emplace_back(fmt::format("ftr_size_vs_gz_json{}", suffix), ftr_bytes / json_bytes);
}

}  // namespace

void ftr_ratios(Ratios& out) {
  const Scratch scratch;
  const std::string json = scratch.file("synthetic.json.gz");
  {
    File file(json);
    trace::GzipSink sink([&](std::string_view bytes) { return file.write(bytes); });
    if (!sink.write(synthetic_trace(std::size_t{64} << 20U)) || !sink.finish()) {
      fmt::print(stderr, "ftr: no scratch file can be written\n");
      return;
    }
  }
  add_rows("", json, scratch.file("synthetic.ftr"), out);
#ifdef FORETRACE_SHARED_DIR
  const std::string traces = FORETRACE_SHARED_DIR "/traces/";
  for (const auto& [suffix, name] :
       {std::pair{"_o18_real", "saf_amg/o18_baseline_a100.json.gz"},
        std::pair{"_mem_2rank_real", "hta/mem_2rank_v100_rank1.json.gz"},
        std::pair{"_train_8rank_real", "hta/train_8rank_a100_rank3.json.gz"}}) {
    if (fs::exists(traces + name)) {
      add_rows(suffix, traces + name, scratch.file("real.ftr"), out);
    }
  }
#endif
}

}  // namespace foretrace::bench
