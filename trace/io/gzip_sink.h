// Compresses a stream of bytes as one gzip member.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

namespace foretrace::trace {

class GzipSink {
 public:
  explicit GzipSink(std::function<bool(std::string_view)> sink);
  GzipSink(const GzipSink&) = delete;
  GzipSink& operator=(const GzipSink&) = delete;
  ~GzipSink();
  /// False once the sink refused.
  [[nodiscard]] bool write(std::string_view bytes);
  /// Writes the end; call once.
  [[nodiscard]] bool finish();

 private:
  struct State;
  [[nodiscard]] bool run(int flush);

  std::function<bool(std::string_view)> sink_;
  std::unique_ptr<State> state_;
};

}  // namespace foretrace::trace
