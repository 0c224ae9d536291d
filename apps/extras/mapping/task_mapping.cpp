// HEFT: Topcuoglu, Hariri, Wu, IEEE TPDS 2002. Evaluation: Hu et al., GiPH, MLSys 2023, public
// code.
#include "apps/extras/mapping/task_mapping.h"

#include <algorithm>
#include <queue>
#include <random>
#include <tuple>

#include <fmt/format.h>

namespace foretrace::mapping {
namespace {

constexpr std::size_t nowhere = SIZE_MAX;

/// Edges by task.
struct Links {
  std::vector<std::vector<std::size_t>> in;
  std::vector<std::vector<std::size_t>> out;
};
Links links_of(const TaskProblem& problem) {
  Links links{std::vector<std::vector<std::size_t>>(problem.tasks()),
              std::vector<std::vector<std::size_t>>(problem.tasks())};
  for (std::size_t e = 0; e < problem.edges.size(); ++e) {
    links.in[problem.edges[e].to].push_back(e);
    links.out[problem.edges[e].from].push_back(e);
  }
  return links;
}

/// Tasks so that edges point forwards; fewer than all if there is a circle.
std::vector<std::size_t> sorted_tasks(const TaskProblem& problem, const Links& links) {
  std::vector<std::size_t> left(problem.tasks());
  std::vector<std::size_t> order;
  for (std::size_t t = 0; t < problem.tasks(); ++t) {
    left[t] = links.in[t].size();
    if (left[t] == 0) order.push_back(t);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const std::size_t e : links.out[order[i]]) {
      if (--left[problem.edges[e].to] == 0) order.push_back(problem.edges[e].to);
    }
  }
  return order;
}

double fastest(const TaskProblem& problem, std::size_t task) {
  double best = -1;
  for (const double time : problem.time[task]) {
    if (time >= 0 && (best < 0 || time < best)) best = time;
  }
  return std::max(best, 0.0);
}

double mean_time(const TaskProblem& problem, std::size_t task) {
  double sum = 0;
  double count = 0;
  for (const double time : problem.time[task]) {
    if (time < 0) continue;
    sum += time;
    count += 1;
  }
  return count > 0 ? sum / count : 0;
}

/// Over all pairs of different devices.
double mean_transfer(const TaskProblem& problem, const TaskEdge& edge) {
  double sum = 0;
  double count = 0;
  for (std::size_t a = 0; a < problem.devices; ++a) {
    for (std::size_t b = 0; b < problem.devices; ++b) {
      if (a == b) continue;
      sum += problem.transfer(edge, a, b);
      count += 1;
    }
  }
  return count > 0 ? sum / count : 0;
}

void finish(const TaskProblem& problem, const Links& links, TaskTimes& times) {
  for (const double end : times.end) times.makespan = std::max(times.makespan, end);
  std::vector<double> chain(problem.tasks(), 0);
  double longest = 0;
  for (const std::size_t task : sorted_tasks(problem, links)) {
    for (const std::size_t e : links.in[task]) {
      chain[task] = std::max(chain[task], chain[problem.edges[e].from]);
    }
    chain[task] += fastest(problem, task);
    longest = std::max(longest, chain[task]);
  }
  times.stretch = longest > 0 ? times.makespan / longest : 0;
}

struct Slot {
  double begin = 0;
  double end = 0;
};

/// First time from `ready` on at which a device is free for so long.
double first_gap(const std::vector<Slot>& taken, double ready, double length) {
  double at = ready;
  for (const Slot& slot : taken) {
    if (at + length <= slot.begin) return at;
    at = std::max(at, slot.end);
  }
  return at;
}

void take(std::vector<Slot>& taken, const Slot& slot) {
  const auto where = std::find_if(taken.begin(), taken.end(), [&slot](const Slot& other) {
    return std::tie(slot.begin, slot.end) < std::tie(other.begin, other.end);
  });
  taken.insert(where, slot);
}

std::vector<double> upward_ranks(const TaskProblem& problem, const Links& links) {
  std::vector<double> rank(problem.tasks(), 0);
  std::vector<std::size_t> order = sorted_tasks(problem, links);
  std::reverse(order.begin(), order.end());
  for (const std::size_t task : order) {
    for (const std::size_t e : links.out[task]) {
      const TaskEdge& edge = problem.edges[e];
      rank[task] = std::max(rank[task], mean_transfer(problem, edge) + rank[edge.to]);
    }
    rank[task] += mean_time(problem, task);
  }
  return rank;
}

}  // namespace

Status check_problem(const TaskProblem& problem) {
  const auto refuse = [](std::string what) {
    return Error{ErrorCode::bad_config, std::move(what)};
  };
  const auto square = [&problem](const std::vector<std::vector<double>>& matrix) {
    return matrix.size() == problem.devices &&
           std::all_of(matrix.begin(), matrix.end(),
                       [&problem](const auto& row) { return row.size() == problem.devices; });
  };
  if (problem.devices == 0) return refuse("devices: got none, expected at least one");
  if (!square(problem.delay) || !square(problem.per_byte)) {
    return refuse(fmt::format("links: expected {0} x {0} of them", problem.devices));
  }
  for (std::size_t t = 0; t < problem.tasks(); ++t) {
    if (problem.time[t].size() != problem.devices) {
      return refuse(fmt::format("tasks/{}: got {} times, expected one for each of the {} devices",
                                t, problem.time[t].size(), problem.devices));
    }
    if (std::all_of(problem.time[t].begin(), problem.time[t].end(),
                    [](double time) { return time < 0; })) {
      return refuse(fmt::format("tasks/{}: runs on no device", t));
    }
  }
  for (std::size_t e = 0; e < problem.edges.size(); ++e) {
    const TaskEdge& edge = problem.edges[e];
    if (edge.from >= problem.tasks() || edge.to >= problem.tasks()) {
      return refuse(
          fmt::format("edges/{}: names a missing task, expected 0 to {}", e, problem.tasks() - 1));
    }
    if (!(edge.bytes >= 0)) {
      return refuse(fmt::format("edges/{}/bytes: got {}, expected 0 or more", e, edge.bytes));
    }
  }
  if (sorted_tasks(problem, links_of(problem)).size() != problem.tasks()) {
    return refuse("edges: tasks wait for each other in a cycle");
  }
  return ok_status();
}

TaskTimes evaluate(const TaskProblem& problem, const std::vector<std::size_t>& device) {
  const Links links = links_of(problem);
  TaskTimes times{device, std::vector<double>(problem.tasks(), 0),
                  std::vector<double>(problem.tasks(), 0)};
  std::vector<std::size_t> left(problem.tasks());
  std::vector<double> ready(problem.tasks(), 0);
  std::vector<double> free(problem.devices, 0);
  using Ready = std::pair<double, std::size_t>;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> queue;
  for (std::size_t t = 0; t < problem.tasks(); ++t) {
    left[t] = links.in[t].size();
    if (left[t] == 0) queue.emplace(0, t);
  }
  // Tasks leave the queue in the order in which they became ready: so does every device's own.
  while (!queue.empty()) {
    const auto [at, task] = queue.top();
    queue.pop();
    const std::size_t here = device[task];
    times.start[task] = std::max(at, free[here]);
    times.end[task] = free[here] = times.start[task] + std::max(0.0, problem.time[task][here]);
    for (const std::size_t e : links.out[task]) {
      const TaskEdge& edge = problem.edges[e];
      const double arrives = times.end[task] + problem.transfer(edge, here, device[edge.to]);
      ready[edge.to] = std::max(ready[edge.to], arrives);
      if (--left[edge.to] == 0) queue.emplace(ready[edge.to], edge.to);
    }
  }
  finish(problem, links, times);
  return times;
}

TaskTimes heft(const TaskProblem& problem) {
  const Links links = links_of(problem);
  const std::vector<double> rank = upward_ranks(problem, links);
  // Ties keep the order of the graph, so that nobody comes before what it waits for.
  std::vector<std::size_t> order = sorted_tasks(problem, links);
  std::stable_sort(order.begin(), order.end(),
                   [&rank](std::size_t a, std::size_t b) { return rank[a] > rank[b]; });
  TaskTimes times{std::vector<std::size_t>(problem.tasks(), nowhere),
                  std::vector<double>(problem.tasks(), 0), std::vector<double>(problem.tasks(), 0)};
  std::vector<std::vector<Slot>> taken(problem.devices);
  for (const std::size_t task : order) {
    for (std::size_t d = 0; d < problem.devices; ++d) {
      const double length = problem.time[task][d];
      if (length < 0) continue;
      double ready = 0;
      for (const std::size_t e : links.in[task]) {
        const TaskEdge& edge = problem.edges[e];
        ready = std::max(ready,
                         times.end[edge.from] + problem.transfer(edge, times.device[edge.from], d));
      }
      const double start = first_gap(taken[d], ready, length);
      if (times.device[task] != nowhere && start + length >= times.end[task]) continue;
      times.device[task] = d;
      times.start[task] = start;
      times.end[task] = start + length;
    }
    take(taken[times.device[task]], {times.start[task], times.end[task]});
  }
  finish(problem, links, times);
  return times;
}

TaskTimes improve(const TaskProblem& problem, const MoveSearch& search) {
  TaskTimes best = evaluate(problem, heft(problem).device);
  // Where links are dear, moves of one task do not lead from many devices to one.
  for (std::size_t device = 0; device < problem.devices; ++device) {
    const bool takes_all = std::all_of(problem.time.begin(), problem.time.end(),
                                       [device](const auto& times) { return times[device] >= 0; });
    if (!takes_all) continue;
    TaskTimes alone = evaluate(problem, std::vector<std::size_t>(problem.tasks(), device));
    if (alone.makespan < best.makespan) best = std::move(alone);
  }
  std::mt19937_64 random(search.seed);
  const auto below = [&random](std::size_t count) {
    return static_cast<std::size_t>(random() % std::max<std::size_t>(1, count));
  };
  for (std::size_t i = 0; i < search.evaluations && problem.tasks() > 0; ++i) {
    std::vector<std::size_t> device = best.device;
    const std::size_t task = below(problem.tasks());
    const std::size_t to = below(problem.devices);
    if (problem.time[task][to] < 0 || device[task] == to) continue;
    device[task] = to;
    TaskTimes tried = evaluate(problem, device);
    if (tried.makespan <= best.makespan) best = std::move(tried);
  }
  return best;
}

}  // namespace foretrace::mapping
