#include "apps/scheduling/solver/assignment.h"

#include <cmath>
#include <limits>

namespace foretrace::scheduling {
namespace {

constexpr double unreachable = std::numeric_limits<double>::infinity();
constexpr std::size_t nothing = std::numeric_limits<std::size_t>::max();

// The place that is k-th from the end on all machines of a kind.
struct Place {
  std::size_t kind = 0;
  double position = 1;
  double price = 0;
  std::vector<std::size_t> jobs;
};

// Shortest augmenting paths (Jonker and Volgenant 1987) over places that hold several jobs each.
class Assigner {
 public:
  explicit Assigner(const MachineAssignment& problem)
      : problem_(&problem), place_of_(problem.times.size(), nothing) {
    for (std::size_t kind = 0; kind < problem.machines.size(); ++kind) {
      if (problem.machines[kind] > 0) places_.push_back({.kind = kind, .jobs = {}});
    }
  }

  void assign(std::size_t job) {
    std::vector<double> distance(places_.size(), unreachable);
    std::vector<std::size_t> from(places_.size(), nothing);
    std::vector<bool> scanned(places_.size(), false);
    relax(job, 0, {.distance = &distance, .from = &from, .scanned = &scanned});
    std::size_t sink = nothing;
    while (true) {
      std::size_t nearest = nothing;
      for (std::size_t p = 0; p < places_.size(); ++p) {
        if (scanned[p] || distance[p] == unreachable) continue;
        if (nearest == nothing || distance[p] < distance[nearest]) nearest = p;
      }
      if (nearest == nothing) return;  // it can run nowhere
      if (has_room(places_[nearest])) {
        sink = nearest;
        break;
      }
      scanned[nearest] = true;
      for (const std::size_t other : places_[nearest].jobs) {
        const double base = distance[nearest] - reduced(other, nearest);
        relax(other, base, {.distance = &distance, .from = &from, .scanned = &scanned});
      }
    }
    for (std::size_t p = 0; p < places_.size(); ++p) {
      if (scanned[p]) places_[p].price += distance[p] - distance[sink];
    }
    augment(job, sink, from);
  }

  [[nodiscard]] std::vector<std::int32_t> kinds() const {
    std::vector<std::int32_t> kinds;
    for (const std::size_t place : place_of_) {
      kinds.push_back(place == nothing ? -1 : static_cast<std::int32_t>(places_[place].kind));
    }
    return kinds;
  }

 private:
  struct Search {
    std::vector<double>* distance;
    std::vector<std::size_t>* from;
    std::vector<bool>* scanned;
  };

  [[nodiscard]] bool has_room(const Place& place) const {
    return place.jobs.size() < static_cast<std::size_t>(problem_->machines[place.kind]);
  }
  [[nodiscard]] double reduced(std::size_t job, std::size_t p) const {
    const Place& place = places_[p];
    const double time = problem_->times[job][place.kind];
    return std::isfinite(time) ? place.position * time - place.price : unreachable;
  }
  void relax(std::size_t job, double base, const Search& search) const {
    for (std::size_t p = 0; p < places_.size(); ++p) {
      if ((*search.scanned)[p]) continue;
      const double reached = base + reduced(job, p);
      if (reached >= (*search.distance)[p]) continue;
      (*search.distance)[p] = reached;
      (*search.from)[p] = job;
    }
  }
  void augment(std::size_t job, std::size_t sink, const std::vector<std::size_t>& from) {
    std::size_t place = sink;
    while (true) {
      const std::size_t moved = from[place];
      const std::size_t before = place_of_[moved];
      places_[place].jobs.push_back(moved);
      place_of_[moved] = place;
      if (moved == job) break;
      std::erase(places_[before].jobs, moved);
      place = before;
    }
    if (!has_room(places_[sink])) {
      // The next place on these machines: one more job from the end.
      const std::size_t kind = places_[sink].kind;
      const double position = places_[sink].position + 1;
      places_.push_back({.kind = kind, .position = position, .jobs = {}});
    }
  }

  const MachineAssignment* problem_;
  std::vector<Place> places_;
  std::vector<std::size_t> place_of_;
};

}  // namespace

std::vector<std::int32_t> least_mean_finish(const MachineAssignment& problem) {
  Assigner assigner(problem);
  for (std::size_t job = 0; job < problem.times.size(); ++job) assigner.assign(job);
  return assigner.kinds();
}

}  // namespace foretrace::scheduling
