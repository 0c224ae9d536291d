#include "apps/questions/substitution/environment.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "sim/core/params.h"
#include "sim/core/random.h"

namespace foretrace {
namespace {

constexpr std::string_view select_key = "select";
constexpr std::string_view stop_text = "stop";
constexpr std::size_t most_actions = 10'000;

bool has_select(const WhatIfSpec& spec) {
  const auto info = find_what_if(spec.name);
  return info.ok() && std::any_of((*info)->params.begin(), (*info)->params.end(),
                                  [](const ParamInfo& param) { return param.name == select_key; });
}

std::string text_in_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "''" : std::string(1, c);
  return result + "'";
}

std::string exactly(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

/// Where rules may match: each layer, and each two whose kernels follow each other on a stream, in
/// order of the graph; operators where no layers are told.
std::vector<std::string> places_of(const TaskGraph& graph) {
  const std::vector<Layer>& layers = graph.context().layers;
  const bool has_layers = layers.size() > 1;
  const std::string_view key = has_layers ? "layer" : "operator";
  const auto name_of = [&](TaskId task) -> std::string_view {
    if (has_layers) return graph.names()[layers[index(graph.layer(task))].name];
    return graph.names()[graph.work(task).operator_name];
  };
  std::vector<std::string> places;
  std::set<std::string> known;
  std::map<LaneId, std::string_view> before;
  const auto add = [&](std::string place) {
    if (known.insert(place).second) places.push_back(std::move(place));
  };
  for (std::size_t t = 0; t < graph.size(); ++t) {
    const auto task = static_cast<TaskId>(t);
    if (graph.kind(task) != TaskKind::kernel) continue;
    const std::string_view name = name_of(task);
    std::string_view& last = before[graph.columns().lane[t]];
    if (!name.empty()) add(fmt::format("{}={}", key, text_in_quotes(name)));
    if (!name.empty() && !last.empty() && last != name) {
      const auto [first, second] = std::minmax(last, name);
      add(fmt::format("{}~{}", key,
                      text_in_quotes(fmt::format("^({}|{})$", exactly(first), exactly(second)))));
    }
    last = name;
  }
  return places;
}

WhatIfSpec at(WhatIfSpec rule, const std::string& place) {
  for (auto& [key, value] : rule.parameters) {
    if (key != select_key) continue;
    value += "&" + place;
    return rule;
  }
  rule.parameters.emplace_back(select_key, place);
  return rule;
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  return mixed_bits(hash ^ (value + 0x9e3779b97f4a7c15ULL + (hash << 6U)));
}

}  // namespace

std::vector<WhatIfSpec> Substitutions::usual_rules() {
  return {{"kernel_fusion", {}},
          {"metaflow_rules", {{"fold", "false"}, {"epilogue", "false"}}},
          {"metaflow_rules", {{"merge", "false"}, {"epilogue", "false"}}},
          {"metaflow_rules", {{"merge", "false"}, {"fold", "false"}}}};
}

Status Substitutions::measure(SubstitutionState& state) const {
  const TaskGraph& graph = state.graph();
  FORETRACE_TRY(const auto run, simulate_run(graph, options_.run));
  state.cost_ = {0, run.answer.step_ns, graph.size()};
  std::uint64_t hash = graph.size();
  for (std::size_t t = 0; t < graph.size(); ++t) {
    const auto task = static_cast<TaskId>(t);
    const std::int64_t ns = graph.duration_ns(task);
    if (is_device(graph.kind(task))) state.cost_.sum_ns += ns;
    hash = mixed(hash, static_cast<std::uint64_t>(ns));
    hash = mixed(hash, static_cast<std::uint64_t>(graph.segment_ns(task)));
    // When it ran says whom it waited for.
    hash = mixed(hash, static_cast<std::uint64_t>(run.timeline.start_ns(task)));
  }
  state.fingerprint_ = hash;
  return ok_status();
}

Result<Substitutions> Substitutions::of(const Recording& recording,
                                        std::span<const WhatIfSpec> rules,
                                        const SubstitutionOptions& options) {
  Substitutions made(SubstitutionState(WhatIfStack(recording)), options);
  FORETRACE_TRY(made.measure(made.start_));
  const std::vector<WhatIfSpec> usual = usual_rules();
  const std::vector<std::string> places = places_of(recording.graph());
  for (const WhatIfSpec& rule : rules.empty() ? std::span<const WhatIfSpec>(usual) : rules) {
    // Mistakes of the rule itself, before it has a place.
    FORETRACE_TRY(check_what_if(rule));
    std::vector<WhatIfSpec> matches;
    if (has_select(rule)) {
      for (const std::string& place : places) matches.push_back(at(rule, place));
    } else {
      matches.push_back(rule);
    }
    for (const WhatIfSpec& match : matches) {
      FORETRACE_TRY(auto what_if, check_what_if(match));
      // What never matches is no action; what a substitution makes possible elsewhere is one of
      // the same layer.
      WhatIfStack trial = made.start_.stack_;
      const Status matched = trial.push(what_if, Neutral::refuse);
      if (!matched.ok() && matched.error().code == ErrorCode::no_match) continue;
      FORETRACE_TRY(matched);
      made.texts_.push_back(text_of(match));
      made.what_ifs_.push_back(std::move(what_if));
      if (made.texts_.size() > most_actions) {
        return Error{
            ErrorCode::unsupported,
            fmt::format("substitutions: got more than {} matches, expected rules that select fewer",
                        most_actions)};
      }
    }
  }
  if (made.texts_.empty()) {
    return Error{ErrorCode::no_match, "substitutions: no rule matches"};
  }
  made.texts_.emplace_back(stop_text);
  return made;
}

Result<std::optional<SubstitutionState>> Substitutions::next(const SubstitutionState& state,
                                                             std::size_t action) const {
  if (action >= texts_.size()) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("action: got {}, expected a number below {}", action, texts_.size())};
  }
  std::optional<SubstitutionState> changed = state;
  if (action == stop()) return changed;
  const Status matched = changed->stack_.push(what_ifs_[action], Neutral::refuse);
  if (!matched.ok()) {
    if (matched.error().code == ErrorCode::no_match) return std::optional<SubstitutionState>{};
    return Error(matched.error());
  }
  changed->taken_.push_back(action);
  FORETRACE_TRY(measure(*changed));
  return changed;
}

void SubstitutionEnvironment::reset() {
  state_ = rules_->start();
  children_.clear();
  done_ = false;
}

Result<const std::optional<SubstitutionState>*> SubstitutionEnvironment::child(std::size_t action) {
  if (const auto known = children_.find(action); known != children_.end()) return &known->second;
  FORETRACE_TRY(auto made, rules_->next(state_, action));
  return &children_.emplace(action, std::move(made)).first->second;
}

Result<std::vector<bool>> SubstitutionEnvironment::mask() {
  std::vector<bool> matches(rules_->actions().size(), false);
  matches[rules_->stop()] = true;
  if (done_) return matches;
  for (std::size_t action = 0; action < rules_->stop(); ++action) {
    FORETRACE_TRY(const auto made, child(action));
    matches[action] = made->has_value();
  }
  return matches;
}

Result<SubstitutionStep> SubstitutionEnvironment::step(std::size_t action) {
  if (done_) {
    return Error{ErrorCode::bad_usage, "step: the episode has ended, expected a reset before it"};
  }
  FORETRACE_TRY(const auto made, child(action));
  if (!made->has_value()) {
    return Error{ErrorCode::no_match, fmt::format("step: action {} ({}) does not match here, "
                                                  "expected one of the mask",
                                                  action, rules_->actions()[action])};
  }
  SubstitutionState after = **made;
  const auto first = static_cast<double>(rules_->goal_of(rules_->start().cost()));
  const std::int64_t gain = rules_->goal_of(state_.cost()) - rules_->goal_of(after.cost());
  done_ = action == rules_->stop();
  state_ = std::move(after);
  children_.clear();
  return SubstitutionStep{first > 0 ? static_cast<double>(gain) / first : 0, done_, state_.cost()};
}

Result<SubstitutionFound> search_substitutions(const Substitutions& rules,
                                               const SubstitutionSearch& search) {
  if (!(search.relaxation >= 1)) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("relaxation: got {}, expected 1 or more", search.relaxation)};
  }
  struct Waiting {
    std::int64_t goal = 0;
    std::size_t number = 0;  // of two that cost the same, the older one
    SubstitutionState state;
    bool operator<(const Waiting& other) const {
      return std::pair(goal, number) > std::pair(other.goal, other.number);
    }
  };
  const SubstitutionState start = rules.start();
  SubstitutionFound found;
  found.start = found.cost = start.cost();
  std::int64_t best = rules.goal_of(start.cost());
  std::set<std::uint64_t> seen = {start.fingerprint()};
  std::priority_queue<Waiting> waiting;
  waiting.push({best, 0, start});
  std::size_t number = 0;
  std::size_t followed = 0;
  const auto is_near = [&](std::int64_t goal) {
    return static_cast<double>(goal) <= search.relaxation * static_cast<double>(best);
  };
  while (!waiting.empty() && followed < search.most_states) {
    const Waiting one = waiting.top();
    waiting.pop();
    if (!is_near(one.goal)) continue;
    ++followed;
    for (std::size_t action = 0; action < rules.stop(); ++action) {
      FORETRACE_TRY(auto child, rules.next(one.state, action));
      if (!child.has_value() || !seen.insert(child->fingerprint()).second) continue;
      const std::int64_t goal = rules.goal_of(child->cost());
      if (goal < best) {
        best = goal;
        found.cost = child->cost();
        found.actions = child->taken();
      }
      if (is_near(goal)) waiting.push({goal, ++number, *std::move(child)});
    }
  }
  found.states = seen.size();
  found.is_complete = waiting.empty();
  return found;
}

}  // namespace foretrace
