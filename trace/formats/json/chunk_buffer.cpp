#include "trace/formats/json/chunk_buffer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "trace/formats/json/scan.h"

namespace foretrace::trace::formats {

ChunkBuffer::ChunkBuffer(ByteSource& source) : source_(source), data_(piece + scan_padding) {}

bool ChunkBuffer::refill() {
  if (ended_ || at_limit()) return false;
  const std::size_t kept = size();
  if (kept > 0 && at_ > 0) {
    std::memmove(data_.data(), at(), kept);
  }
  start_ += at_;
  at_ = 0;
  filled_ = kept;
  // Doubling keeps repeated scans of one large value linear in its size.
  std::size_t room = data_.size() - scan_padding;
  if (kept * 2 > room) {
    room = std::min(limit, room * 2);
    data_.resize(room + scan_padding);
  } else if (room > piece && kept * 2 <= piece) {
    room = piece;
    data_.resize(room + scan_padding);
    data_.shrink_to_fit();
  }
  auto got = source_.read({data_.data() + filled_, room - filled_});
  if (!got) {
    error_ = std::move(got).error();
    ended_ = true;
  } else {
    filled_ += *got;
    ended_ = *got == 0;
  }
  std::fill_n(data_.data() + filled_, scan_padding, '\0');
  return !ended_;
}

}  // namespace foretrace::trace::formats
