// A row of coloured time in a fixed number of pixels: nothing vanishes, however short it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace foretrace::svg {

/// What a slice is; a picture gives each a colour.
enum class Fill : std::uint8_t {
  forward,
  backward,
  update,
  loading,
  communication,
  movement,  ///< copies and sets
  other,     ///< device work of unknown phase
  host,      ///< the program between its calls
  call,      ///< calls that launch work
  wait       ///< a host thread that waits for the device
};
inline constexpr std::size_t fill_count = 10;

/// Neighbouring pixels that look alike.
struct Run {
  std::size_t first = 0;
  std::size_t count = 0;
  Fill fill{};
  int strength = 4;  ///< 1 to 4: how much of the time is covered, in quarters, rounded up
};

/// Collects slices of [begin, end) and says what each pixel shows: the fill that takes most of its
/// time, as strong as the time that all of them cover.
class Strip {
 public:
  Strip(std::int64_t begin_ns, std::int64_t end_ns, std::size_t pixels);
  void add(std::int64_t begin_ns, std::int64_t end_ns, Fill fill);
  [[nodiscard]] std::vector<Run> runs() const;
  /// Time that slices cover, all fills together.
  [[nodiscard]] double covered_ns() const;

 private:
  double begin_;
  double scale_;  // pixels per ns
  std::size_t pixels_;
  std::vector<float> time_;  // per pixel and fill, in pixels
};

}  // namespace foretrace::svg
