// One copy of a served model: which requests wait and run, and what its next step computes.
// Continuous batching as vLLM (V1) does it: running sequences first, in order of arrival; then
// waiting ones while tokens, sequences and blocks last; who finds no block puts the youngest back.
// Sequences that write advance together and are not visited: a step costs what changes in it, unless
// tokens or blocks are scarce.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "apps/serving/block_cache.h"
#include "apps/serving/engine.h"
#include "apps/serving/step_cost.h"

namespace foretrace {

/// A request on its way through a replica.
struct Sequence {
  std::size_t request = 0;
  std::int64_t input = 1;
  std::int64_t output = 1;
  std::int64_t group = -1;
  std::int64_t prefix = 0;
  std::int64_t computed = 0;   ///< tokens whose keys and values are in the cache
  std::int64_t generated = 0;  ///< tokens written so far
  std::int64_t received = 0;   ///< computed elsewhere and sent here
  std::int64_t blocks = 0;     ///< of its own
  std::int64_t shared = 0;     ///< tokens in blocks of its group
  std::int64_t step = 0;       ///< tokens of the step that is under way
  std::int64_t cached = 0;     ///< found in the cache at first
  std::int32_t preemptions = 0;
  bool was_scheduled = false;

  [[nodiscard]] std::int64_t total() const { return input + generated; }
  /// Everything but the last token is computed.
  [[nodiscard]] bool writes() const { return generated > 0 && total() - computed == 1; }
};

class Replica {
 public:
  Replica(const StepRules& rules, std::int64_t blocks)
      : rules_(rules), cache_(blocks, rules.block_tokens) {}
  Replica(Replica&&) = default;  // what is visited stays where it is
  Replica& operator=(Replica&&) = default;
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;
  ~Replica() = default;

  void enqueue(const Sequence& sequence) { waiting_.push_back(sequence); }
  [[nodiscard]] std::size_t load() const { return waiting_.size() + running_.size(); }

  /// Decides what the next step computes. No tokens: there is nothing to do.
  [[nodiscard]] StepWork form_step();
  /// How many steps in a row, at most `most`, are alike: every running sequence writes and nothing
  /// changes. Takes the blocks that they need.
  [[nodiscard]] std::int64_t repeat(std::int64_t most);
  /// Sequences whose first step begins now; each is named once.
  [[nodiscard]] std::vector<std::size_t> take_started();

  /// What a step gave.
  struct Given {
    std::vector<std::size_t> first;  ///< requests whose first token it is
    std::vector<Sequence> ended;
  };
  /// After `steps` alike.
  [[nodiscard]] Given end_step(std::int64_t steps);

  [[nodiscard]] const BlockCache& cache() const { return cache_; }
  [[nodiscard]] std::int64_t preemptions() const { return preemptions_; }
  /// Sequences visited so far, and one for every step that was formed.
  [[nodiscard]] std::int64_t visits() const { return visits_; }

 private:
  /// One that is served. Numbers of one that writes together with others are those at `since`.
  struct Member {
    Sequence sequence;
    std::uint64_t order = 0;  ///< of admission
    std::int64_t since = 0;   ///< on the clock of writers
    bool together = false;
  };

  void join_writers(Member& member);
  void leave_writers(Member& member);
  /// Everybody is visited in this step.
  void visit_all();
  /// Blocks that writers take for `tokens` more each, behind the next `has`.
  [[nodiscard]] std::int64_t blocks_of_writers(std::int64_t tokens, std::int64_t has) const;
  [[nodiscard]] std::int64_t blocks_lacked(const Sequence& sequence, std::int64_t tokens) const;
  /// Whether nobody is put back and all who write together can do so in this step.
  [[nodiscard]] bool has_plenty(std::int64_t budget, bool prompts_only) const;
  [[nodiscard]] bool visited_are_youngest() const;
  [[nodiscard]] bool grow(Sequence& sequence, std::int64_t tokens);
  /// Blocks beside its own that are kept for what it has yet to write, after `written` more.
  [[nodiscard]] std::int64_t promised_to(const Sequence& sequence, std::int64_t written) const;
  [[nodiscard]] std::int64_t promised_to_all() const;
  void schedule_running(std::int64_t& budget, bool prompts_only);
  void schedule_visited(std::int64_t& budget, bool prompts_only);
  void admit(std::int64_t& budget);
  /// `promised`: blocks that are kept for others; grows by those for this one.
  [[nodiscard]] bool admit_one(std::int64_t& budget, std::int64_t& promised);
  void put_back_last();
  void share_prefix(Sequence& sequence);
  void end_visit(Member& member, std::int64_t steps, Given& given);
  void let_go(Sequence& sequence);
  [[nodiscard]] bool prompts_left() const;

  StepRules rules_;
  BlockCache cache_;
  std::deque<Sequence> waiting_;
  std::map<std::uint64_t, Member> running_;  ///< by order of admission
  std::vector<Member*> visited_;             ///< those that do not write together, in that order
  std::uint64_t admitted_ = 0;
  std::int64_t clock_ = 0;  ///< tokens that every writer has got since the beginning
  std::int64_t writers_ = 0;
  std::int64_t writer_keys_ = 0;                ///< tokens that writers have computed
  std::map<std::int64_t, std::int64_t> fills_;  ///< writers by (computed - clock) in a block
  std::set<std::pair<std::int64_t, std::uint64_t>> ends_;  ///< of writers, on their clock
  bool writers_step_ = false;
  bool is_scarce_ = false;  ///< tokens or blocks are, in this step
  std::int64_t visits_ = 0;
  std::vector<std::size_t> started_;
  std::int64_t preemptions_ = 0;
  bool put_back_ = false;  ///< in this step
  bool only_writes_ = false;
};

}  // namespace foretrace
