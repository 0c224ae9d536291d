// The gzip decoder of ISA-L: about three times as fast as zlib, where the build found it.
#include "trace/io/gzip.h"

#ifdef FORETRACE_HAS_ISAL
#include <algorithm>
#include <limits>

#include <isa-l/igzip_lib.h>
#endif

namespace foretrace::trace {

#ifdef FORETRACE_HAS_ISAL
namespace {

class IsalDecoder final : public GzipDecoder {
 public:
  IsalDecoder() { start_member(); }

  void start_member() override {
    isal_inflate_init(&state_);
    state_.crc_flag = ISAL_GZIP;
  }

  [[nodiscard]] Step step(std::span<const char> input, std::span<char> output) override {
    const auto limit = std::size_t{std::numeric_limits<std::int32_t>::max()};
    // ISA-L does not write through next_in; its type only lacks the const.
    state_.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(input.data()));
    state_.avail_in = static_cast<std::uint32_t>(std::min(input.size(), limit));
    state_.next_out = reinterpret_cast<std::uint8_t*>(output.data());
    state_.avail_out = static_cast<std::uint32_t>(std::min(output.size(), limit));
    const std::uint32_t in_before = state_.avail_in;
    const std::uint32_t out_before = state_.avail_out;
    const int code = isal_inflate(&state_);
    Step result{in_before - state_.avail_in, out_before - state_.avail_out, State::more};
    if (code != ISAL_DECOMP_OK && code != ISAL_END_INPUT && code != ISAL_OUT_OVERFLOW) {
      result.state = State::corrupt;
    } else if (state_.block_state == ISAL_BLOCK_FINISH) {
      result.state = State::member_end;
    }
    return result;
  }

 private:
  inflate_state state_{};
};

}  // namespace

std::unique_ptr<GzipDecoder> make_isal_decoder() { return std::make_unique<IsalDecoder>(); }
#else
std::unique_ptr<GzipDecoder> make_isal_decoder() { return nullptr; }
#endif

}  // namespace foretrace::trace
