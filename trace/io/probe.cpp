#include "trace/io/probe.h"

#include <span>
#include <utility>

namespace foretrace::trace {

Result<Probe> Probe::open(const std::string& path) {
  auto source = open_file(path);
  if (!source) {
    return std::move(source).error();
  }
  return Probe(std::move(source).value());
}

Result<std::string_view> Probe::start(std::size_t count) {
  const std::size_t had = start_.size();
  if (had < count && !ended_) {
    start_.resize(count);
    auto got = source_->read(std::span<char>(start_).subspan(had));
    if (!got) {
      return std::move(got).error();
    }
    ended_ = *got < count - had;
    start_.resize(had + *got);
  }
  return std::string_view(start_).substr(0, count);
}

std::unique_ptr<ByteSource> Probe::take() && {
  return with_prefix(std::move(start_), std::move(source_));
}

}  // namespace foretrace::trace
