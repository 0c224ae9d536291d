#include "trace/rules/assembly/tails.h"

#include <algorithm>

namespace foretrace::trace::rules {

void Tails::advance_to(std::uint32_t position) {
  for (; position_ < position && position_ < assembly_.items.size(); ++position_) {
    const Item& item = assembly_.items[position_];
    if (item.kind != Item::Kind::op) {
      continue;
    }
    std::uint32_t& tail = tail_[assembly_.ops[item.index].stream];
    if (tail != nothing) {
      by_end_.erase(row_of(tail));
    }
    tail = item.index;
    by_end_.insert(row_of(tail));
  }
}

std::uint32_t Tails::ended_within(std::int64_t from, std::int64_t until) const {
  const auto after = by_end_.upper_bound(Row(until, nothing));
  if (after == by_end_.begin() || std::prev(after)->first <= from) {
    return nothing;
  }
  return nothing - std::prev(after)->second;
}

std::int64_t Tails::latest_end(std::int64_t none) const {
  return by_end_.empty() ? none : by_end_.rbegin()->first;
}

std::vector<std::uint32_t> Tails::ended_after(std::int64_t time) const {
  std::vector<std::uint32_t> streams;
  for (auto at = by_end_.rbegin(); at != by_end_.rend() && at->first > time; ++at) {
    streams.push_back(nothing - at->second);
  }
  return streams;
}

std::vector<std::uint32_t> Tails::ended_by(std::int64_t time, std::size_t most) const {
  std::vector<std::uint32_t> streams;
  auto at = by_end_.upper_bound(Row(time, nothing));
  while (at != by_end_.begin() && streams.size() < most) {
    streams.push_back(nothing - (--at)->second);
  }
  return streams;
}

}  // namespace foretrace::trace::rules
