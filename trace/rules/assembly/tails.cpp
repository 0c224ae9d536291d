#include "trace/rules/assembly/tails.h"

#include <algorithm>

namespace foretrace::trace::rules {

void Tails::advance_to(std::uint32_t position) {
  for (; position_ < position && position_ < assembly_.items.size(); ++position_) {
    const Item& item = assembly_.items[position_];
    if (item.kind != Item::Kind::op) continue;
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
  if (after == by_end_.begin() || std::prev(after)->first <= from) return nothing;
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

Ends::Ends(const Assembly& assembly) : assembly_(assembly) {
  for (const Stream& stream : assembly.streams) {
    ops_.insert(ops_.end(), stream.ops.begin(), stream.ops.end());
  }
  std::reverse(ops_.begin(), ops_.end());  // the first stream's is the last of equals
  std::stable_sort(ops_.begin(), ops_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return assembly.ops[a].end_ns < assembly.ops[b].end_ns;
  });
}

std::uint32_t Ends::last_within(std::int64_t from, std::int64_t until,
                                std::uint32_t position) const {
  auto at = std::partition_point(ops_.begin(), ops_.end(), [&](std::uint32_t op) {
    return assembly_.ops[op].end_ns <= until;
  });
  while (at != ops_.begin() && assembly_.ops[*--at].end_ns >= from) {
    if (assembly_.ops[*at].position < position) return *at;
  }
  return nothing;
}

}  // namespace foretrace::trace::rules
