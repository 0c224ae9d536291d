#include "apps/serving/replica.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/core/whole.h"

namespace foretrace {

bool Replica::grow(Sequence& sequence, std::int64_t tokens) {
  const std::int64_t needed = cache_.blocks_for(sequence.computed + tokens) -
                              sequence.shared / cache_.block_tokens() - sequence.blocks;
  if (needed > 0 && !cache_.take(needed)) return false;
  sequence.blocks += std::max<std::int64_t>(0, needed);
  return true;
}

std::int64_t Replica::promised_to(const Sequence& sequence) const {
  if (!(rules_.reserved_output > 0)) return 0;
  const auto left = static_cast<double>(sequence.output - sequence.generated);
  const std::int64_t tokens = sequence.total() + to_whole(std::ceil(rules_.reserved_output * left));
  const std::int64_t shared = sequence.shared / cache_.block_tokens();
  return std::max<std::int64_t>(0, cache_.blocks_for(tokens) - shared - sequence.blocks);
}

void Replica::let_go(Sequence& sequence) {
  cache_.give_back(std::exchange(sequence.blocks, 0));
  if (sequence.group >= 0 && rules_.keeps_prefixes) cache_.release(sequence.group);
  sequence.shared = 0;
}

void Replica::put_back_last() {
  Sequence sequence = running_.back();
  running_.pop_back();
  let_go(sequence);
  // What it computed is lost, what it wrote is not; what was sent is computed here.
  sequence.computed = sequence.received = 0;
  sequence.step = 0;
  ++sequence.preemptions;
  ++preemptions_;
  put_back_ = true;
  waiting_.push_front(sequence);
}

bool Replica::prompts_left() const {
  return std::any_of(running_.begin(), running_.end(),
                     [](const Sequence& sequence) { return !sequence.writes(); });
}

void Replica::schedule_running(std::int64_t& budget, bool prompts_only) {
  for (std::size_t i = 0; i < running_.size() && budget > 0; ++i) {
    if (prompts_only && running_[i].writes()) continue;
    const std::int64_t tokens = std::min(running_[i].total() - running_[i].computed, budget);
    bool has_room = grow(running_[i], tokens);
    while (!has_room && running_.size() > i) {
      put_back_last();
      if (running_.size() > i) has_room = grow(running_[i], tokens);
    }
    if (!has_room) break;
    running_[i].step = tokens;
    budget -= tokens;
  }
}

bool Replica::admit_one(std::int64_t& budget, std::int64_t& promised) {
  Sequence& next = waiting_.front();
  const bool looks = next.group >= 0 && rules_.keeps_prefixes;
  if (looks) {
    cache_.hold(next.group);
    const std::int64_t usable =
        std::min(next.prefix, next.total() - 1) / cache_.block_tokens() * cache_.block_tokens();
    next.shared = std::min(cache_.cached(next.group), usable);
  }
  next.computed = std::max(next.received, next.shared);
  std::int64_t tokens = next.total() - next.computed;
  const bool is_alone = running_.empty();
  if (tokens > budget && (rules_.chunks_prompts || is_alone)) {
    // A prompt that never fits a step is computed in one of its own.
    tokens = rules_.chunks_prompts ? budget : tokens;
  }
  const bool has_room = is_alone || promised + promised_to(next) <= cache_.available();
  const bool fits = (tokens <= budget || is_alone) && has_room && grow(next, tokens);
  if (!fits && is_alone && looks) {
    // The beginning of its group may fill the cache, though it can use little of it: do without.
    cache_.release(next.group);
    next.group = -1;
    next.shared = next.computed = 0;
    return admit_one(budget, promised);
  }
  if (!fits) {
    if (looks) cache_.release(next.group);
    next.shared = next.computed = 0;
    return false;
  }
  budget -= std::min(tokens, budget);
  next.step = tokens;
  if (!next.was_scheduled) {
    next.was_scheduled = true;
    next.cached = next.shared;
    started_.push_back(next.request);
  }
  promised += promised_to(next);
  running_.push_back(next);
  waiting_.pop_front();
  return true;
}

void Replica::admit(std::int64_t& budget) {
  if (put_back_ || waiting_.empty()) return;
  std::int64_t promised = 0;
  for (const Sequence& sequence : running_) promised += promised_to(sequence);
  while (!waiting_.empty() && budget > 0 && running_.size() < rules_.sequences) {
    if (!admit_one(budget, promised)) return;
  }
}

StepWork Replica::form_step() {
  put_back_ = false;
  for (Sequence& sequence : running_) sequence.step = 0;
  std::int64_t budget = rules_.batched_tokens;
  if (rules_.mixes) {
    schedule_running(budget, false);
    admit(budget);
  } else {
    if (prompts_left()) schedule_running(budget, true);
    admit(budget);
    if (budget == rules_.batched_tokens) schedule_running(budget, false);
  }
  StepWork work;
  only_writes_ = true;
  for (const Sequence& sequence : running_) {
    if (sequence.step == 0) {
      only_writes_ = false;
      continue;
    }
    if (sequence.computed + sequence.step == sequence.total()) work.drawn += 1;
    if (sequence.step == 1) {
      work.writers += 1;
      work.writer_keys += static_cast<double>(sequence.computed + 1);
    } else {
      work.prompts.push_back(
          {static_cast<double>(sequence.step), static_cast<double>(sequence.computed)});
    }
    only_writes_ &= sequence.writes();
  }
  only_writes_ &= !put_back_;
  return work;
}

std::int64_t Replica::repeat(std::int64_t most) {
  if (!only_writes_ || running_.empty()) return 1;
  std::int64_t steps = most;
  for (const Sequence& sequence : running_) {
    steps = std::min(steps, sequence.output - sequence.generated);
  }
  if (steps <= 1) return 1;
  std::int64_t needed = 0;
  for (const Sequence& sequence : running_) {
    needed +=
        std::max<std::int64_t>(0, cache_.blocks_for(sequence.computed + steps) -
                                      sequence.shared / cache_.block_tokens() - sequence.blocks);
  }
  if (needed > cache_.available()) return 1;
  for (Sequence& sequence : running_) static_cast<void>(grow(sequence, steps));
  return steps;
}

std::vector<std::size_t> Replica::take_started() { return std::exchange(started_, {}); }

void Replica::share_prefix(Sequence& sequence) {
  if (sequence.group < 0 || !rules_.keeps_prefixes) return;
  // Copies that were computed at the same time stay with who made them.
  if (cache_.cached(sequence.group) != sequence.shared) return;
  const std::int64_t given =
      cache_.share(sequence.group, std::min(sequence.prefix, sequence.computed));
  sequence.blocks -= given;
  sequence.shared += given * cache_.block_tokens();
}

Replica::Given Replica::end_step(std::int64_t steps) {
  Given given;
  std::vector<Sequence> left;
  left.reserve(running_.size());
  for (Sequence& sequence : running_) {
    const std::int64_t tokens = std::exchange(sequence.step, 0);
    if (tokens > 0) {
      const bool draws = sequence.computed + tokens == sequence.total();
      sequence.computed += tokens + (draws ? steps - 1 : 0);
      share_prefix(sequence);
      if (draws) {
        if (sequence.generated == 0) given.first.push_back(sequence.request);
        sequence.generated += steps;
      }
    }
    if (sequence.generated >= sequence.output) {
      let_go(sequence);
      given.ended.push_back(sequence);
    } else {
      left.push_back(sequence);
    }
  }
  running_ = std::move(left);
  return given;
}

}  // namespace foretrace
