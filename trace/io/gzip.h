// Inflates gzip streams of any number of members in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "trace/io/byte_source.h"

namespace foretrace::trace {

/// The library that inflates: both give the same bytes and report the same damage.
enum class Inflater : std::uint8_t { fastest, zlib };

/// True if these first bytes of a file say gzip.
[[nodiscard]] bool looks_like_gzip(std::string_view first_bytes);

/// A source of the inflated bytes. Damage ends the stream and is told by `trouble()`.
[[nodiscard]] std::unique_ptr<ByteSource> inflate(std::unique_ptr<ByteSource> compressed,
                                                  Inflater inflater = Inflater::fastest);

/// One library's inflate loop. Used by `inflate` only.
class GzipDecoder {
 public:
  enum class State : std::uint8_t { more, member_end, corrupt };
  struct Step {
    std::size_t taken = 0;  ///< bytes of the input used up
    std::size_t made = 0;   ///< bytes of output written
    State state = State::more;
  };
  virtual ~GzipDecoder() = default;
  /// Forgets everything and expects the header of a member.
  virtual void start_member() = 0;
  [[nodiscard]] virtual Step step(std::span<const char> input, std::span<char> output) = 0;
};
[[nodiscard]] std::unique_ptr<GzipDecoder> make_zlib_decoder();
/// Null where the build has no ISA-L.
[[nodiscard]] std::unique_ptr<GzipDecoder> make_isal_decoder();

}  // namespace foretrace::trace
