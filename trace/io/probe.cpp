#include "trace/io/probe.h"

#include <span>
#include <utility>

namespace foretrace::trace {

Result<Probe> Probe::open(const std::string& path) {
  FORETRACE_TRY(auto source, open_file(path));
  return Probe(std::move(source));
}

Result<std::string_view> Probe::start(std::size_t count) {
  const std::size_t had = start_.size();
  if (had < count && !ended_) {
    start_.resize(count);
    FORETRACE_TRY(auto got, source_->read(std::span<char>(start_).subspan(had)));
    ended_ = got < count - had;
    start_.resize(had + got);
  }
  return std::string_view(start_).substr(0, count);
}

std::unique_ptr<ByteSource> Probe::take() && {
  return with_prefix(std::move(start_), std::move(source_));
}

}  // namespace foretrace::trace
