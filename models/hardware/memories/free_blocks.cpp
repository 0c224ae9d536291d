#include "models/hardware/memories/free_blocks.h"

#include <algorithm>

namespace foretrace {

FreeBlocks::Place FreeBlocks::lower_bound(const FreeBlock& block) const {
  const auto run = std::partition_point(order_.begin(), order_.end(), [&](std::uint32_t r) {
    return runs_[r].blocks[runs_[r].count - 1] < block;
  });
  if (run == order_.end()) return end();
  const Run& found = runs_[*run];
  const auto* const first = found.blocks.data();
  const auto* const at = std::lower_bound(first, first + found.count, block);
  return {static_cast<std::size_t>(run - order_.begin()), static_cast<std::size_t>(at - first)};
}

std::uint32_t FreeBlocks::new_run() {
  if (spare_.empty()) {
    runs_.emplace_back();
    return static_cast<std::uint32_t>(runs_.size() - 1);
  }
  const std::uint32_t run = spare_.back();
  spare_.pop_back();
  runs_[run].count = 0;
  return run;
}

void FreeBlocks::insert(const FreeBlock& block) {
  ++size_;
  Place place;
  if (order_.empty()) {
    order_.push_back(new_run());
  } else if (place = lower_bound(block); place == end()) {
    place = {order_.size() - 1, runs_[order_.back()].count};
  }
  if (runs_[order_[place.run]].count == longest_run) {
    const std::uint32_t added = new_run();
    Run& full = runs_[order_[place.run]];
    Run& half = runs_[added];
    constexpr std::size_t kept = longest_run / 2;
    std::copy(full.blocks.begin() + kept, full.blocks.end(), half.blocks.begin());
    half.count = longest_run - kept;
    full.count = kept;
    order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(place.run) + 1, added);
    if (place.at > kept) place = {place.run + 1, place.at - kept};
  }
  Run& run = runs_[order_[place.run]];
  auto* const to = run.blocks.data() + place.at;
  std::copy_backward(to, run.blocks.data() + run.count, run.blocks.data() + run.count + 1);
  *to = block;
  ++run.count;
}

void FreeBlocks::erase(Place place) {
  --size_;
  Run& run = runs_[order_[place.run]];
  auto* const from = run.blocks.data() + place.at;
  std::copy(from + 1, run.blocks.data() + run.count, from);
  if (--run.count == 0) {
    spare_.push_back(order_[place.run]);
    order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(place.run));
  }
}

}  // namespace foretrace
