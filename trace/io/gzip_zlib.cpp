// The gzip decoder of zlib: always there.
#include <algorithm>
#include <limits>

#include <zlib.h>

#include "trace/io/gzip.h"

namespace foretrace::trace {
namespace {

class ZlibDecoder final : public GzipDecoder {
 public:
  ZlibDecoder() {
    // 15: the largest window; +16: gzip headers only.
    usable_ = inflateInit2(&stream_, 15 + 16) == Z_OK;
  }
  ZlibDecoder(const ZlibDecoder&) = delete;
  ZlibDecoder& operator=(const ZlibDecoder&) = delete;
  ~ZlibDecoder() override { inflateEnd(&stream_); }

  void start_member() override { inflateReset(&stream_); }

  [[nodiscard]] Step step(std::span<const char> input, std::span<char> output) override {
    if (!usable_) {
      return {0, 0, State::corrupt};
    }
    const auto limit = std::size_t{std::numeric_limits<uInt>::max()};
    // zlib does not write through next_in; its type only lacks the const.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream_.avail_in = static_cast<uInt>(std::min(input.size(), limit));
    stream_.next_out = reinterpret_cast<Bytef*>(output.data());
    stream_.avail_out = static_cast<uInt>(std::min(output.size(), limit));
    const uInt in_before = stream_.avail_in;
    const uInt out_before = stream_.avail_out;
    const int code = ::inflate(&stream_, Z_NO_FLUSH);
    Step result{in_before - stream_.avail_in, out_before - stream_.avail_out, State::more};
    if (code == Z_STREAM_END) {
      result.state = State::member_end;
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      result.state = State::corrupt;
    }
    return result;
  }

 private:
  z_stream stream_{};
  bool usable_ = false;
};

}  // namespace

std::unique_ptr<GzipDecoder> make_zlib_decoder() { return std::make_unique<ZlibDecoder>(); }

}  // namespace foretrace::trace
