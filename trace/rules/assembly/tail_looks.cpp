#include "trace/rules/assembly/tail_looks.h"

#include <algorithm>

namespace foretrace::trace::rules {
namespace {

bool any_in(const std::vector<std::uint32_t>& positions, std::uint32_t from, std::uint32_t to) {
  const auto at = std::upper_bound(positions.begin(), positions.end(), from);
  return at != positions.end() && *at <= to;
}

}  // namespace

TailLooks::TailLooks(const Assembly& assembly) : by_stream_(assembly.streams.size()) {
  for (const Source& source : assembly.sources) {
    if (source.at != nothing) {
      by_stream_[assembly.ops[source.source_op].stream].push_back(source.at);
    }
  }
  for (const Target& target : assembly.targets) {
    (target.stream == nothing ? of_all_ : by_stream_[target.stream]).push_back(target.at);
  }
  for (auto& positions : by_stream_) {
    std::sort(positions.begin(), positions.end());
  }
  std::sort(of_all_.begin(), of_all_.end());
}

bool TailLooks::any(std::uint32_t stream, std::uint32_t from, std::uint32_t to) const {
  return any_in(by_stream_[stream], from, to) || any_in(of_all_, from, to);
}

}  // namespace foretrace::trace::rules
