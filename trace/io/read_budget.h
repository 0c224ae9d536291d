// One budget of memory for what is read: so many bytes for each byte that was unpacked.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "sim/core/result.h"
#include "trace/io/byte_source.h"

namespace foretrace::trace {

/// An event has 60 bytes and more as JSON, 8 in our own chunks; a task with all that is known of it
/// some 600. Real recordings take 5 to 35 for each byte; tests hold hostile ones of JSON to 64.
inline constexpr std::uint64_t most_memory_per_byte = 128;
/// What any input may take, however small.
inline constexpr std::uint64_t always_memory = std::uint64_t{256} << 20U;

/// Counts what all files of one question unpack to, and compares it with how far the memory of the
/// process grew since. For a program that does nothing else meanwhile. Thread-safe.
class ReadBudget {
 public:
  ReadBudget();
  /// A budget of another size, for tests.
  ReadBudget(std::uint64_t always, std::uint64_t per_byte);

  /// Bytes that came out of a file.
  void add(std::uint64_t bytes) { unpacked_ += bytes; }
  /// An error that names `path` and both figures, once memory grew beyond the budget.
  [[nodiscard]] Status check(std::string_view path) const;

 private:
  std::uint64_t always_;
  std::uint64_t per_byte_;
  std::uint64_t at_start_;
  std::atomic<std::uint64_t> unpacked_ = 0;
};

/// The same bytes; the budget counts them, and reading ends with its error.
[[nodiscard]] std::unique_ptr<ByteSource> within(std::shared_ptr<ReadBudget> budget,
                                                 std::unique_ptr<ByteSource> source);

}  // namespace foretrace::trace
