#include "trace/io/gzip_sink.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <zlib.h>

namespace foretrace::trace {
namespace {

constexpr std::size_t output_bytes = std::size_t{1} << 16;
// What gzip itself uses.
constexpr int level = 6;
constexpr int memory_level = 8;

}  // namespace

struct GzipSink::State {
  z_stream stream{};
  bool usable = false;
  std::vector<char> output = std::vector<char>(output_bytes);
};

GzipSink::GzipSink(std::function<bool(std::string_view)> sink)
    : sink_(std::move(sink)), state_(std::make_unique<State>()) {
  // 15: the largest window; +16: a gzip header. The header holds no time and no name.
  state_->usable = deflateInit2(&state_->stream, level, Z_DEFLATED, 15 + 16, memory_level,
                                Z_DEFAULT_STRATEGY) == Z_OK;
}

GzipSink::~GzipSink() { deflateEnd(&state_->stream); }

bool GzipSink::run(int flush) {
  z_stream& stream = state_->stream;
  int code = Z_OK;
  do {
    stream.next_out = reinterpret_cast<Bytef*>(state_->output.data());
    stream.avail_out = static_cast<uInt>(state_->output.size());
    code = deflate(&stream, flush);
    const std::size_t made = state_->output.size() - stream.avail_out;
    state_->usable = code != Z_STREAM_ERROR &&
                     (made == 0 || sink_(std::string_view(state_->output.data(), made)));
  } while (state_->usable && stream.avail_out == 0);
  return state_->usable && (flush != Z_FINISH || code == Z_STREAM_END);
}

bool GzipSink::write(std::string_view bytes) {
  while (state_->usable && !bytes.empty()) {
    const std::size_t piece = std::min<std::size_t>(bytes.size(), std::numeric_limits<uInt>::max());
    // zlib does not write through next_in; its type only lacks the const.
    state_->stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    state_->stream.avail_in = static_cast<uInt>(piece);
    bytes.remove_prefix(piece);
    static_cast<void>(run(Z_NO_FLUSH));
  }
  return state_->usable;
}

bool GzipSink::finish() {
  state_->stream.next_in = nullptr;
  state_->stream.avail_in = 0;
  return state_->usable && run(Z_FINISH);
}

}  // namespace foretrace::trace
