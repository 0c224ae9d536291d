#include "apps/serving/service.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <tuple>

#include "apps/serving/replica.h"
#include "sim/core/whole.h"

namespace foretrace {
namespace {

// Steps that are alike are taken together, at the mean of their contexts.
constexpr std::int64_t most_alike = 64;

enum class EventKind : std::uint8_t { step_end, arrival, reached, received };
struct Event {
  std::int64_t at_ns = 0;
  EventKind kind = EventKind::arrival;
  std::uint64_t number = 0;  ///< events of one time and kind keep their order
  std::size_t index = 0;     ///< of a replica, a request, a sequence on its way
  [[nodiscard]] auto key() const { return std::tuple(at_ns, kind, number); }
  friend bool operator>(const Event& a, const Event& b) { return a.key() > b.key(); }
};

class Run {
 public:
  Run(std::span<const ServingRequest> requests, const ServiceOptions& options, StepCost& cost)
      : requests_(requests), options_(options), cost_(cost) {
    for (std::uint32_t i = 0; i < options.prompt_replicas + options.replicas; ++i) {
      replicas_.push_back({Replica(options.rules, options.cache_blocks)});
    }
    result_.requests.resize(requests.size());
  }

  Service run();

 private:
  struct Copy {
    Replica replica;
    bool busy = false;
    std::int64_t steps = 1;  ///< of what is under way
    std::int64_t took_ns = 0;
    double drawn = 0;         ///< tokens of each of its steps
    double handed_on_ns = 0;  ///< until when tokens are on their way to clients
  };

  void push(std::int64_t at_ns, EventKind kind, std::size_t index) {
    events_.push({at_ns, kind, number_++, index});
  }
  void arrive(std::size_t request, std::int64_t now_ns);
  void reach(std::size_t request);
  void next_of_closed_loop(std::int64_t now_ns);
  void finish(Copy& copy, std::int64_t now_ns, bool is_prompt);
  [[nodiscard]] std::int64_t hand_on(Copy& copy, std::int64_t now_ns) const;
  void hand_over(const Sequence& sequence, std::int64_t now_ns);
  void start(std::size_t index, std::int64_t now_ns);
  void handle(const Event& event);
  [[nodiscard]] double host_of(const StepWork& work) const {
    const double sequences = work.writers + static_cast<double>(work.prompts.size());
    return options_.host_step_ns + sequences * options_.host_sequence_ns;
  }
  Copy& least_loaded(std::size_t first, std::size_t last);

  std::span<const ServingRequest> requests_;
  const ServiceOptions& options_;
  StepCost& cost_;
  std::vector<Copy> replicas_;
  std::vector<Sequence> travelling_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t number_ = 0;
  std::size_t next_ = 0;  ///< request of the closed loop
  Service result_;
};

Run::Copy& Run::least_loaded(std::size_t first, std::size_t last) {
  std::size_t best = first;
  for (std::size_t i = first; i < last; ++i) {
    if (replicas_[i].replica.load() < replicas_[best].replica.load()) best = i;
  }
  return replicas_[best];
}

void Run::arrive(std::size_t request, std::int64_t now_ns) {
  const ServingRequest& asked = requests_[request];
  ServedRequest& served = result_.requests[request];
  served.arrival_ns = now_ns;
  const std::int64_t tokens = asked.input_tokens + asked.output_tokens;
  if (replicas_.front().replica.cache().blocks_for(tokens) > options_.cache_blocks) {
    served.refused = true;
    return next_of_closed_loop(now_ns);
  }
  const std::int64_t host_ns = to_whole(options_.host_request_ns);
  served.reached_ns = now_ns + host_ns;
  if (!(host_ns > 0)) return reach(request);
  push(served.reached_ns, EventKind::reached, request);
}

void Run::reach(std::size_t request) {
  const ServingRequest& asked = requests_[request];
  Sequence sequence;
  sequence.request = request;
  sequence.input = asked.input_tokens;
  sequence.output = options_.prompt_replicas > 0 ? 1 : asked.output_tokens;
  sequence.group = asked.prefix_group;
  sequence.prefix = std::min(asked.prefix_tokens, asked.input_tokens);
  const std::size_t last =
      options_.prompt_replicas > 0 ? options_.prompt_replicas : replicas_.size();
  least_loaded(0, last).replica.enqueue(sequence);
}

void Run::next_of_closed_loop(std::int64_t now_ns) {
  if (options_.in_flight > 0 && next_ < requests_.size()) {
    push(now_ns, EventKind::arrival, next_++);
  }
}

void Run::hand_over(const Sequence& sequence, std::int64_t now_ns) {
  const double bytes = static_cast<double>(sequence.input) * cost_.cache_bytes_per_token();
  const double ns =
      options_.transfer_bytes_per_s > 0 ? bytes / options_.transfer_bytes_per_s * 1e9 : 0;
  Sequence sent;
  sent.request = sequence.request;
  sent.input = sequence.input;
  sent.output = requests_[sequence.request].output_tokens;
  sent.generated = 1;
  sent.received = sequence.input;
  sent.was_scheduled = true;
  sent.cached = sequence.cached;
  sent.preemptions = sequence.preemptions;
  travelling_.push_back(sent);
  push(now_ns + options_.transfer_latency_ns + to_whole(ns), EventKind::received,
       travelling_.size() - 1);
}

/// When the tokens of steps that end now are with their clients: those of a step follow those of
/// the one before, not sooner than they are there.
std::int64_t Run::hand_on(Copy& copy, std::int64_t now_ns) const {
  if (!(options_.host_token_ns > 0)) return now_ns;
  const auto steps = static_cast<double>(copy.steps);
  const double one_ns = copy.drawn * options_.host_token_ns;
  const auto end_ns = static_cast<double>(now_ns);
  const double first_ns = end_ns - static_cast<double>(copy.took_ns) * (steps - 1) / steps;
  copy.handed_on_ns =
      std::max({copy.handed_on_ns + steps * one_ns, first_ns + steps * one_ns, end_ns + one_ns});
  return to_whole(copy.handed_on_ns);
}

void Run::finish(Copy& copy, std::int64_t now_ns, bool is_prompt) {
  copy.busy = false;
  const std::int64_t there_ns = is_prompt ? now_ns : hand_on(copy, now_ns);
  result_.end_ns = std::max(result_.end_ns, there_ns);
  const Replica::Given given = copy.replica.end_step(copy.steps);
  for (const std::size_t request : given.first) {
    result_.requests[request].first_token_ns = there_ns;
  }
  for (const Sequence& sequence : given.ended) {
    ServedRequest& served = result_.requests[sequence.request];
    served.cached_tokens = sequence.cached;
    if (is_prompt && requests_[sequence.request].output_tokens > 1) {
      hand_over(sequence, now_ns);
      continue;
    }
    served.preemptions = sequence.preemptions;
    served.end_ns = there_ns;
    next_of_closed_loop(there_ns);
  }
}

void Run::start(std::size_t index, std::int64_t now_ns) {
  Copy& copy = replicas_[index];
  const std::int64_t before = copy.replica.visits();
  StepWork work = copy.replica.form_step();
  result_.visits += copy.replica.visits() - before;
  result_.is_whole = result_.visits <= options_.most_visits;
  // Whoever was put back finds room in the next attempt.
  if (!(work.tokens() > 0) && copy.replica.load() > 0) work = copy.replica.form_step();
  if (!(work.tokens() > 0)) return;
  for (const std::size_t request : copy.replica.take_started()) {
    result_.requests[request].scheduled_ns = now_ns;
  }
  StepTime time = cost_.of(work);
  const double host_ns = host_of(work);
  const double one_ns = time.at(options_.factor) + host_ns;
  const double until =
      events_.empty() ? HUGE_VAL : static_cast<double>(events_.top().at_ns - now_ns);
  const double most = std::ceil(until / std::max(one_ns, 1.0));
  copy.steps = copy.replica.repeat(most < static_cast<double>(most_alike)
                                       ? std::max<std::int64_t>(1, to_whole(most))
                                       : most_alike);
  if (copy.steps > 1) {
    work.writer_keys += work.writers * static_cast<double>(copy.steps - 1) / 2;
    time = cost_.of(work);
  }
  const auto steps = static_cast<double>(copy.steps);
  for (std::size_t i = 0; i < cost_source_count; ++i) {
    result_.device.by_source[i] += steps * time.by_source[i];
  }
  const std::int64_t took =
      std::max<std::int64_t>(1, to_whole(steps * (time.at(options_.factor) + host_ns)));
  result_.steps += copy.steps;
  result_.busy_ns += took;
  copy.busy = true;
  copy.took_ns = took;
  copy.drawn = work.drawn;
  push(now_ns + took, EventKind::step_end, index);
}

void Run::handle(const Event& event) {
  switch (event.kind) {
    case EventKind::arrival: return arrive(event.index, event.at_ns);
    case EventKind::reached: return reach(event.index);
    case EventKind::received:
      return least_loaded(options_.prompt_replicas, replicas_.size())
          .replica.enqueue(travelling_[event.index]);
    case EventKind::step_end:
      return finish(replicas_[event.index], event.at_ns, event.index < options_.prompt_replicas);
  }
}

Service Run::run() {
  if (options_.in_flight > 0) {
    for (std::uint32_t i = 0; i < options_.in_flight; ++i) next_of_closed_loop(0);
  } else {
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      push(requests_[i].arrival_ns, EventKind::arrival, i);
    }
  }
  while (!events_.empty() && result_.is_whole) {
    const std::int64_t now_ns = events_.top().at_ns;
    while (!events_.empty() && events_.top().at_ns == now_ns) {
      const Event event = events_.top();
      events_.pop();
      handle(event);
    }
    for (std::size_t i = 0; i < replicas_.size(); ++i) {
      if (!replicas_[i].busy) start(i, now_ns);
    }
  }
  for (const Copy& copy : replicas_) {
    result_.preemptions += copy.replica.preemptions();
    result_.most_blocks = std::max(result_.most_blocks, copy.replica.cache().most_used());
  }
  return std::move(result_);
}

}  // namespace

Service run_service(std::span<const ServingRequest> requests, const ServiceOptions& options,
                    StepCost& cost) {
  return Run(requests, options, cost).run();
}

namespace {

double driver_bytes(const Accelerator& accelerator) {
  const MemoryProfile& profile = accelerator.memory;
  return static_cast<double>(profile.context_low_bytes + profile.context_high_bytes) / 2;
}

/// What an engine takes besides its cache.
double taken_bytes(const StepCost& cost, const Accelerator& accelerator, const StepRules& rules) {
  return cost.weight_bytes() + cost.working_bytes(rules.batched_tokens, rules.sequences) +
         driver_bytes(accelerator);
}

}  // namespace

std::int64_t cache_blocks_of(const StepCost& cost, const Accelerator& accelerator,
                             const CacheBudget& budget, const StepRules& rules) {
  const auto memory = static_cast<double>(accelerator.memory_bytes);
  double room = 0;
  switch (budget.of) {
    case CacheShare::device:
      room = budget.share * memory - taken_bytes(cost, accelerator, rules);
      break;
    case CacheShare::weights:
      room = budget.share * (memory - driver_bytes(accelerator)) - cost.weight_bytes();
      break;
    case CacheShare::rest:
      room = budget.share * (memory - taken_bytes(cost, accelerator, rules));
      break;
  }
  const double block = cost.cache_bytes_per_token() * rules.block_tokens;
  if (!(room > 0) || !(block > 0)) return 0;
  return static_cast<std::int64_t>(std::min(room / block, 1e12));
}

double share_of_cache(const StepCost& cost, const Accelerator& accelerator, CacheShare of,
                      const StepRules& rules, double tokens) {
  const auto memory = static_cast<double>(accelerator.memory_bytes);
  const double room = tokens * cost.cache_bytes_per_token();
  const auto share = [room](double beside, double whole) {
    return whole > 0 ? (room + beside) / whole : 0;
  };
  switch (of) {
    case CacheShare::device: return share(taken_bytes(cost, accelerator, rules), memory);
    case CacheShare::weights: return share(cost.weight_bytes(), memory - driver_bytes(accelerator));
    case CacheShare::rest: return share(0, memory - taken_bytes(cost, accelerator, rules));
  }
  return 0;
}

}  // namespace foretrace
