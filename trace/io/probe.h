// A file that is opened once: its first bytes may be looked at before all of them are read.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "sim/core/result.h"
#include "trace/io/byte_source.h"

namespace foretrace::trace {

/// What was looked at is kept and given again, so that pipes and standard input work like files.
class Probe {
 public:
  /// Opens a file; "-" is standard input. Errors as those of open_file.
  [[nodiscard]] static Result<Probe> open(const std::string& path);
  explicit Probe(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  /// The first `count` bytes (unpacked); fewer only if there are no more. Valid until the next
  /// call.
  [[nodiscard]] Result<std::string_view> start(std::size_t count);
  /// Path for messages.
  [[nodiscard]] std::string_view path() const { return source_->path(); }
  [[nodiscard]] std::string_view trouble() const { return source_->trouble(); }
  /// All bytes from the first on. The probe is empty afterwards.
  [[nodiscard]] std::unique_ptr<ByteSource> take() &&;

 private:
  std::unique_ptr<ByteSource> source_;
  std::string start_;
  bool ended_ = false;
};

}  // namespace foretrace::trace
