// Reading texts in tests: through the reader's own door, with what a test asks for spelled out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "trace/formats/reader.h"

namespace foretrace::trace {

[[nodiscard]] inline const ReaderInfo& kineto_reader() {
  for (const ReaderInfo* reader : readers::all()) {
    if (reader->name == "kineto_json") {
      return *reader;
    }
  }
  FAIL("there is no reader called kineto_json");
  return *readers::all().front();
}

/// The reader of this name.
[[nodiscard]] inline const ReaderInfo& reader_called(std::string_view name) {
  for (const ReaderInfo* reader : readers::all()) {
    if (reader->name == name) {
      return *reader;
    }
  }
  FAIL("there is no reader called " << std::string(name));
  return *readers::all().front();
}

[[nodiscard]] inline Result<LoadedTrace> try_text(std::string_view text,
                                                  const ReadOptions& options = {}) {
  const auto source = open_memory(text, "t.json");
  return kineto_reader().read(*source, options);
}

[[nodiscard]] inline LoadedTrace read_text(std::string_view text) {
  auto loaded = try_text(text);
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
  return std::move(loaded).value();
}

/// Events as the elements of "traceEvents".
[[nodiscard]] inline LoadedTrace read_events(std::string_view events) {
  return read_text("{\"traceEvents\": [\n" + std::string(events) + "\n]}");
}

[[nodiscard]] inline LoadedTrace read_fixture(const std::string& name) {
  auto loaded = read_trace(FORETRACE_SOURCE_DIR "/tests/fixtures/kineto_json/" + name, {});
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
  return std::move(loaded).value();
}

/// The first event of this name.
[[nodiscard]] inline EventId event_called(const EventTable& table, std::string_view name) {
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (table.name_of(make_id<EventId>(row)) == name) {
      return make_id<EventId>(row);
    }
  }
  FAIL("no event is called " << std::string(name));
  return {};
}

[[nodiscard]] inline const Track& track_of(const EventTable& table, EventId event) {
  return table.tracks[index(table.track[index(event)])];
}

[[nodiscard]] inline const Descriptor& descriptor_of(const EventTable& table, EventId event) {
  return table.descriptors[index(table.descriptor[index(event)])];
}

/// How often this reason was counted.
[[nodiscard]] inline std::uint64_t damage_count(const ImportReport& report,
                                                std::string_view reason) {
  for (const Damage& damage : report.damage) {
    if (damage.reason == reason) {
      return damage.count;
    }
  }
  return 0;
}

[[nodiscard]] inline bool has_warning(const ImportReport& report, std::string_view part) {
  return std::any_of(report.warnings.begin(), report.warnings.end(),
                     [&](const std::string& w) { return w.find(part) != std::string::npos; });
}

/// Text that is made while it is read, so that tests of size need no memory.
class GeneratedSource final : public ByteSource {
 public:
  /// Gives the n-th piece; empty at the end.
  using Maker = std::function<std::string_view(std::uint64_t)>;
  explicit GeneratedSource(Maker maker) : maker_(std::move(maker)) {}

  [[nodiscard]] Result<std::size_t> read(std::span<char> buffer) override {
    std::size_t made = 0;
    while (made < buffer.size()) {
      if (left_.empty()) {
        left_ = maker_(next_++);
        if (left_.empty()) {
          break;
        }
      }
      const std::size_t count = std::min(left_.size(), buffer.size() - made);
      std::memcpy(buffer.data() + made, left_.data(), count);
      left_.remove_prefix(count);
      made += count;
    }
    taken_ += made;
    return made;
  }
  [[nodiscard]] std::uint64_t consumed() const override { return taken_; }
  [[nodiscard]] std::uint64_t file_size() const override { return 0; }
  [[nodiscard]] std::string_view trouble() const override { return {}; }
  [[nodiscard]] std::string_view path() const override { return "generated"; }

 private:
  Maker maker_;
  std::string_view left_;
  std::uint64_t next_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace foretrace::trace
