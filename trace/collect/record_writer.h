// Writes records to a .ftr file from a thread of its own: bounded memory, whole chunks, and a count
// of what could not be written in time. Safe to call from any thread; nothing here throws.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/collect/record.h"

namespace foretrace::trace::collector {

// Facts at the end of a recording that stopped before its program.
inline constexpr std::string_view stopped_fact = "stopped";
inline constexpr std::string_view recorded_until_fact = "recorded until";  // s since 1970

struct WriterLimits {
  /// Records of one kind that go into one chunk.
  std::size_t records_per_chunk = 8192;
  /// Full batches that may wait for the disk; more are dropped and counted.
  std::size_t waiting_batches = 64;
  /// Bytes of distinct texts; further texts become the empty one, and are counted.
  std::size_t text_bytes = std::size_t{64} << 20U;
  /// A batch that is not full is written after this time, so that a killed program loses little.
  std::chrono::milliseconds patience{1000};
  /// Bytes of the whole file, 0: any; recording stops before.
  std::uint64_t file_bytes = 0;
  int limit_error = 0;  ///< errno that the operating system gives beyond file_bytes; 0: it is ours
  /// `finish` waits no longer for a disk that hangs: it would keep the program from ending.
  std::chrono::milliseconds last_wait{10'000};
};

/// Appends bytes to the file: all of them, then it gives 0, or none and the errno. Behind them it
/// keeps so many free for the end; at last it is called without any. From the writer's thread only.
using RecordSink = std::function<int(std::string_view bytes, std::size_t free_behind)>;
/// Facts about the program: what `inspect` shows of a recording.
using Facts = std::vector<std::pair<std::string, std::string>>;

class RecordWriter {
 public:
  /// Starts the thread, which writes the head of the file with the facts. Throws if there is no
  /// memory or no thread to be had.
  RecordWriter(RecordSink sink, const Facts& facts, WriterLimits limits = {});
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;
  /// Stops without an end mark if `finish` was not called.
  ~RecordWriter();

  /// The number of a text; 0 for one that no longer fits.
  [[nodiscard]] TextNumber text(std::string_view text) noexcept;

  /// One overload per kind of record: copies it, or drops and counts it.
  template <typename Record>
  void add(const Record& record) noexcept;

  /// Writes what waits, the counts of what was dropped, facts that were not known before, why and
  /// when recording stopped if it did, and the end mark. Call once, from a thread that adds nothing
  /// meanwhile. False if the file has no end mark.
  bool finish(const Facts& facts = {}) noexcept;
  /// Why recording stopped before the end: "No space left on device"; empty if it did not.
  [[nodiscard]] std::string stopped() const;
  /// Leaves the file as it is and the thread to the operating system: for a process that was forked
  /// off and has no such thread.
  void abandon() noexcept;

  [[nodiscard]] std::uint64_t dropped() const noexcept;
  [[nodiscard]] std::uint64_t written() const noexcept;
  /// Bytes that records waiting for the disk take at most.
  [[nodiscard]] std::size_t memory_bound() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace foretrace::trace::collector
