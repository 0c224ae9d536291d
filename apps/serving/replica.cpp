#include "apps/serving/replica.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/core/whole.h"

namespace foretrace {
namespace {

// So few are visited as fast as they are kept track of.
constexpr std::size_t few_running = 16;

std::int64_t remainder_of(std::int64_t value, std::int64_t divisor) {
  const std::int64_t rest = value % divisor;
  return rest < 0 ? rest + divisor : rest;
}

}  // namespace

void Replica::join_writers(Member& member) {
  const Sequence& sequence = member.sequence;
  member.since = clock_;
  member.together = true;
  ++writers_;
  writer_keys_ += sequence.computed;
  ++fills_[remainder_of(sequence.computed - clock_, cache_.block_tokens())];
  ends_.emplace(clock_ + sequence.output - sequence.generated, member.order);
}

void Replica::leave_writers(Member& member) {
  Sequence& sequence = member.sequence;
  ends_.erase({member.since + sequence.output - sequence.generated, member.order});
  const std::int64_t written = clock_ - member.since;
  sequence.computed += written;
  sequence.generated += written;
  sequence.blocks = cache_.blocks_for(sequence.computed) - sequence.shared / cache_.block_tokens();
  const auto fill = fills_.find(remainder_of(sequence.computed - clock_, cache_.block_tokens()));
  if (--fill->second == 0) fills_.erase(fill);
  writer_keys_ -= sequence.computed;
  --writers_;
  member.together = false;
}

void Replica::visit_all() {
  is_scarce_ = true;
  visits_ += writers_;
  visited_.clear();
  for (auto& [order, member] : running_) {
    if (member.together) leave_writers(member);
    visited_.push_back(&member);
  }
}

std::int64_t Replica::blocks_of_writers(std::int64_t tokens, std::int64_t has) const {
  if (tokens == 1 && has == 0) {  // those whose last block is full
    const auto full = fills_.find(remainder_of(-clock_, cache_.block_tokens()));
    return full == fills_.end() ? 0 : full->second;
  }
  std::int64_t blocks = 0;
  for (const auto& [fill, writers] : fills_) {
    const std::int64_t filled = remainder_of(fill + clock_, cache_.block_tokens());
    blocks += writers * (cache_.blocks_for(filled + tokens) - cache_.blocks_for(filled + has));
  }
  return blocks;
}

std::int64_t Replica::blocks_lacked(const Sequence& sequence, std::int64_t tokens) const {
  return std::max<std::int64_t>(0, cache_.blocks_for(sequence.computed + tokens) -
                                       sequence.shared / cache_.block_tokens() - sequence.blocks);
}

bool Replica::grow(Sequence& sequence, std::int64_t tokens) {
  const std::int64_t lacked = blocks_lacked(sequence, tokens);
  if (lacked > 0 && !cache_.take(lacked)) return false;
  sequence.blocks += lacked;
  return true;
}

std::int64_t Replica::promised_to(const Sequence& sequence, std::int64_t written) const {
  if (!(rules_.reserved_output > 0)) return 0;
  const auto left = static_cast<double>(sequence.output - sequence.generated - written);
  const std::int64_t tokens =
      sequence.total() + written + to_whole(std::ceil(rules_.reserved_output * left));
  const std::int64_t shared = sequence.shared / cache_.block_tokens();
  return std::max<std::int64_t>(0, cache_.blocks_for(tokens) - shared - sequence.blocks);
}

std::int64_t Replica::promised_to_all() const {
  if (!(rules_.reserved_output > 0)) return 0;
  std::int64_t promised = 0;
  for (const auto& [order, member] : running_) {
    if (!member.together) {
      promised += promised_to(member.sequence, 0);
      continue;
    }
    Sequence sequence = member.sequence;
    const std::int64_t written = clock_ - member.since;
    sequence.blocks = cache_.blocks_for(sequence.computed + written + (writers_step_ ? 1 : 0)) -
                      sequence.shared / cache_.block_tokens();
    promised += promised_to(sequence, written);
  }
  return promised;
}

void Replica::let_go(Sequence& sequence) {
  cache_.give_back(std::exchange(sequence.blocks, 0));
  if (sequence.group >= 0 && rules_.keeps_prefixes) cache_.release(sequence.group);
  sequence.shared = 0;
}

// All are visited: the youngest is the last of them.
void Replica::put_back_last() {
  const auto last = std::prev(running_.end());
  Sequence sequence = last->second.sequence;
  visited_.pop_back();
  running_.erase(last);
  let_go(sequence);
  // What it computed is lost, what it wrote is not; what was sent is computed here.
  sequence.computed = sequence.received = 0;
  sequence.step = 0;
  ++sequence.preemptions;
  ++preemptions_;
  put_back_ = is_scarce_ = true;
  waiting_.push_front(sequence);
}

bool Replica::prompts_left() const {
  return std::any_of(visited_.begin(), visited_.end(),
                     [](const Member* member) { return !member->sequence.writes(); });
}

bool Replica::visited_are_youngest() const {
  auto youngest = running_.rbegin();
  for (auto member = visited_.rbegin(); member != visited_.rend(); ++member, ++youngest) {
    if (*member != &youngest->second) return false;
  }
  return true;
}

bool Replica::has_plenty(std::int64_t budget, bool prompts_only) const {
  std::int64_t blocks = prompts_only ? 0 : blocks_of_writers(1, 0);
  if (!prompts_only) budget -= writers_;
  if (budget < 0) return false;
  bool is_short = false;
  for (const Member* const member : visited_) {
    const Sequence& sequence = member->sequence;
    if (prompts_only && sequence.writes()) continue;
    const std::int64_t wanted = sequence.total() - sequence.computed;
    const std::int64_t tokens = std::min(wanted, budget);
    is_short |= tokens < wanted;
    if (tokens > 0) blocks += blocks_lacked(sequence, tokens);
    budget -= tokens;
  }
  if (blocks > cache_.available()) return false;
  return prompts_only || !is_short || visited_are_youngest();
}

void Replica::schedule_visited(std::int64_t& budget, bool prompts_only) {
  for (std::size_t i = 0; i < visited_.size() && budget > 0; ++i) {
    Sequence& sequence = visited_[i]->sequence;
    if (prompts_only && sequence.writes()) continue;
    const std::int64_t tokens = std::min(sequence.total() - sequence.computed, budget);
    bool has_room = grow(sequence, tokens);
    while (!has_room && visited_.size() > i) {
      put_back_last();
      if (visited_.size() > i) has_room = grow(sequence, tokens);
    }
    if (!has_room) break;
    sequence.step = tokens;
    budget -= tokens;
  }
}

void Replica::schedule_running(std::int64_t& budget, bool prompts_only) {
  if (writers_ > 0 && !has_plenty(budget, prompts_only)) visit_all();
  if (writers_ > 0 && !prompts_only) {
    static_cast<void>(cache_.take(blocks_of_writers(1, 0)));
    budget -= writers_;
    writers_step_ = true;
  }
  schedule_visited(budget, prompts_only);
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
  const bool has_room = is_alone || promised + promised_to(next, 0) <= cache_.available();
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
  promised += promised_to(next, 0);
  const std::uint64_t order = admitted_++;
  const auto made = running_.emplace_hint(running_.end(), order, Member{next, order});
  visited_.push_back(&made->second);
  waiting_.pop_front();
  return true;
}

void Replica::admit(std::int64_t& budget) {
  if (put_back_ || waiting_.empty() || running_.size() >= rules_.sequences || budget <= 0) return;
  std::int64_t promised = promised_to_all();
  while (!waiting_.empty() && budget > 0 && running_.size() < rules_.sequences) {
    if (!admit_one(budget, promised)) return;
  }
}

StepWork Replica::form_step() {
  put_back_ = writers_step_ = is_scarce_ = false;
  for (Member* const member : visited_) member->sequence.step = 0;
  std::int64_t budget = rules_.batched_tokens;
  if (rules_.mixes) {
    schedule_running(budget, false);
    admit(budget);
  } else {
    if (prompts_left()) schedule_running(budget, true);
    admit(budget);
    if (budget == rules_.batched_tokens) schedule_running(budget, false);
  }
  visits_ += 1 + static_cast<std::int64_t>(visited_.size());
  StepWork work;
  only_writes_ = writers_step_ || writers_ == 0;
  if (writers_step_) {
    work.writers = work.drawn = static_cast<double>(writers_);
    work.writer_keys = static_cast<double>(writer_keys_ + writers_);
  }
  for (const Member* const member : visited_) {
    const Sequence& sequence = member->sequence;
    if (sequence.step == 0) {
      only_writes_ = false;
      is_scarce_ |= sequence.writes();
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
  if (writers_ > 0) steps = std::min(steps, ends_.begin()->first - clock_);
  for (const Member* const member : visited_) {
    steps = std::min(steps, member->sequence.output - member->sequence.generated);
  }
  if (steps <= 1) return 1;
  const std::int64_t of_writers = blocks_of_writers(steps, 1);
  std::int64_t lacked = of_writers;
  for (const Member* const member : visited_) lacked += blocks_lacked(member->sequence, steps);
  if (lacked > cache_.available()) return 1;
  static_cast<void>(cache_.take(of_writers));
  for (Member* const member : visited_) static_cast<void>(grow(member->sequence, steps));
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

void Replica::end_visit(Member& member, std::int64_t steps, Given& given) {
  Sequence& sequence = member.sequence;
  const std::int64_t tokens = std::exchange(sequence.step, 0);
  if (tokens == 0) return;
  const bool draws = sequence.computed + tokens == sequence.total();
  sequence.computed += tokens + (draws ? steps - 1 : 0);
  share_prefix(sequence);
  if (!draws) return;
  if (sequence.generated == 0) given.first.push_back(sequence.request);
  sequence.generated += steps;
}

Replica::Given Replica::end_step(std::int64_t steps) {
  Given given;
  std::vector<Member*> ended;
  if (writers_step_) {
    clock_ += steps;
    writer_keys_ += steps * writers_;
  }
  while (!ends_.empty() && ends_.begin()->first <= clock_) {
    Member& member = running_.find(ends_.begin()->second)->second;
    leave_writers(member);
    ended.push_back(&member);
  }
  const bool joins = !is_scarce_ && running_.size() > few_running;
  std::vector<Member*> left;
  for (Member* const member : visited_) {
    end_visit(*member, steps, given);
    if (member->sequence.generated >= member->sequence.output) {
      ended.push_back(member);
    } else if (joins && member->sequence.writes()) {
      join_writers(*member);
    } else {
      left.push_back(member);
    }
  }
  visited_ = std::move(left);
  std::sort(ended.begin(), ended.end(),
            [](const Member* a, const Member* b) { return a->order < b->order; });
  for (Member* const member : ended) {
    let_go(member->sequence);
    given.ended.push_back(member->sequence);
    running_.erase(member->order);
  }
  return given;
}

}  // namespace foretrace
