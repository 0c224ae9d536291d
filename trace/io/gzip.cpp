#include "trace/io/gzip.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace foretrace::trace {
namespace {

constexpr std::size_t input_bytes = std::size_t{1} << 17;

class GzipSource final : public ByteSource {
 public:
  GzipSource(std::unique_ptr<ByteSource> compressed, std::unique_ptr<GzipDecoder> decoder)
      : compressed_(std::move(compressed)), decoder_(std::move(decoder)), input_(input_bytes) {}

  [[nodiscard]] Result<std::size_t> read(std::span<char> buffer) override {
    std::size_t made = 0;
    while (made < buffer.size() && !ended_) {
      if (next_ == filled_) {
        FORETRACE_TRY(auto got, compressed_->read(input_));
        next_ = 0;
        filled_ = got;
        input_ended_ = filled_ == 0;
      }
      if (between_members_) {
        begin_member();
        continue;
      }
      made += decode(buffer.subspan(made));
    }
    return made;
  }

  [[nodiscard]] std::uint64_t consumed() const override { return taken_; }
  [[nodiscard]] std::uint64_t file_size() const override { return compressed_->file_size(); }
  [[nodiscard]] std::string_view trouble() const override {
    return trouble_.empty() ? compressed_->trouble() : std::string_view(trouble_);
  }
  [[nodiscard]] std::string_view path() const override { return compressed_->path(); }

 private:
  // After a member: the end, padding with zeros (tape blocks), another member, or garbage.
  void begin_member() {
    if (input_ended_) {
      ended_ = true;
      return;
    }
    if (members_ > 0) {
      while (next_ < filled_ && input_[next_] == '\0') {
        take(1);
      }
      if (next_ == filled_) return;
    }
    if (members_ > 0 && static_cast<unsigned char>(input_[next_]) != 0x1f) {
      end_with(fmt::format("bytes after the gzip data at byte {} are not gzip and were left out",
                           taken_));
      return;
    }
    decoder_->start_member();
    between_members_ = false;
  }

  std::size_t decode(std::span<char> output) {
    const GzipDecoder::Step step =
        decoder_->step(std::span<const char>(input_).subspan(next_, filled_ - next_), output);
    take(step.taken);
    if (step.state == GzipDecoder::State::corrupt) {
      end_with(fmt::format("gzip data is corrupt near compressed byte {}{}", taken_, of_size()));
    } else if (step.state == GzipDecoder::State::member_end) {
      ++members_;
      between_members_ = true;
    } else if (input_ended_ && step.made == 0) {
      end_with(fmt::format("gzip data ends early after {} compressed bytes", taken_));
    }
    return step.made;
  }

  void take(std::size_t count) {
    next_ += count;
    taken_ += count;
  }

  void end_with(std::string message) {
    trouble_ = std::move(message);
    ended_ = true;
  }

  [[nodiscard]] std::string of_size() const {
    return file_size() > 0 ? fmt::format(" of {}", file_size()) : std::string();
  }

  std::unique_ptr<ByteSource> compressed_;
  std::unique_ptr<GzipDecoder> decoder_;
  std::vector<char> input_;
  std::size_t next_ = 0;
  std::size_t filled_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t members_ = 0;
  std::string trouble_;
  bool between_members_ = true;
  bool input_ended_ = false;
  bool ended_ = false;
};

}  // namespace

bool looks_like_gzip(std::string_view first_bytes) {
  return first_bytes.size() >= 2 && first_bytes.starts_with("\x1f\x8b");
}

std::unique_ptr<ByteSource> inflate(std::unique_ptr<ByteSource> compressed, Inflater inflater) {
  std::unique_ptr<GzipDecoder> decoder =
      inflater == Inflater::fastest ? make_isal_decoder() : nullptr;
  if (!decoder) {
    decoder = make_zlib_decoder();
  }
  return std::make_unique<GzipSource>(std::move(compressed), std::move(decoder));
}

}  // namespace foretrace::trace
