#include "models/hardware/networks/lanes.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/hardware/catalogue/read_figures.h"
#include "sim/core/params.h"

namespace foretrace {
namespace {

using LaneTable = std::vector<std::vector<std::uint32_t>>;
using Cycle = std::vector<std::size_t>;

constexpr double most_lane_bandwidth = 1e18;

/// Every way around some accelerators that uses lanes which are there, in one of its directions.
class Cycles {
 public:
  Cycles(const LaneTable& lanes, std::vector<std::size_t> over)
      : lanes_(lanes), over_(std::move(over)) {
    path_ = {over_.front()};
    extend();
  }
  [[nodiscard]] const std::vector<Cycle>& all() const { return cycles_; }

 private:
  void extend() {
    if (path_.size() == over_.size()) {
      const bool closes = lanes_[path_.back()][path_.front()] > 0;
      if (closes && path_[1] < path_.back()) cycles_.push_back(path_);
      return;
    }
    for (const std::size_t next : over_) {
      const bool is_new = std::find(path_.begin(), path_.end(), next) == path_.end();
      if (!is_new || lanes_[path_.back()][next] == 0) continue;
      path_.push_back(next);
      extend();
      path_.pop_back();
    }
  }

  const LaneTable& lanes_;
  std::vector<std::size_t> over_;
  Cycle path_;
  std::vector<Cycle> cycles_;
};

/// Takes the lanes of a cycle, or gives them back.
bool take_lanes(LaneTable& lanes, const Cycle& cycle, bool is_taken) {
  const auto step = static_cast<std::uint32_t>(is_taken ? -1 : 1);
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const std::size_t a = cycle[i];
    const std::size_t b = cycle[(i + 1) % cycle.size()];
    if (is_taken && lanes[a][b] == 0) {
      for (; i > 0; --i) {
        ++lanes[cycle[i - 1]][cycle[i]];
        ++lanes[cycle[i]][cycle[i - 1]];
      }
      return false;
    }
    lanes[a][b] += step;
    lanes[b][a] += step;
  }
  return true;
}

/// Most cycles, from the one at `first` on, that share no lane; `most` are enough.
std::uint32_t packed(LaneTable& lanes, const std::vector<Cycle>& cycles, std::size_t first,
                     std::uint32_t most) {
  std::uint32_t best = 0;
  for (std::size_t i = first; i < cycles.size() && best < most; ++i) {
    if (!take_lanes(lanes, cycles[i], true)) continue;
    best = std::max(best, 1 + packed(lanes, cycles, i, most - 1));
    take_lanes(lanes, cycles[i], false);
  }
  return best;
}

std::uint32_t lanes_to(const LaneTable& lanes, std::size_t one,
                       const std::vector<std::size_t>& others) {
  std::uint32_t sum = 0;
  for (const std::size_t other : others) sum += lanes[one][other];
  return sum;
}

/// Takes out accelerators that only one other is joined to; the fewest lanes of one.
std::uint32_t without_ends(const LaneTable& lanes, std::vector<std::size_t>& over) {
  std::uint32_t fewest = UINT32_MAX;
  for (std::size_t i = 0; over.size() > 2 && i < over.size();) {
    const std::size_t one = over[i];
    const auto joined = std::count_if(over.begin(), over.end(),
                                      [&](std::size_t other) { return lanes[one][other] > 0; });
    if (joined != 1) {
      ++i;
      continue;
    }
    fewest = std::min(fewest, lanes_to(lanes, one, over));
    over.erase(over.begin() + static_cast<std::ptrdiff_t>(i));
    i = 0;
  }
  return fewest;
}

bool read_lane(std::string_view text, LaneTable& lanes) {
  const auto dash = std::min(text.find('-'), text.size());
  const auto equals = std::min(text.find('=', dash), text.size());
  if (equals == text.size()) return false;
  const auto number = [](std::string_view part) {
    const auto read = parse_quantity(part, ParamType::number);
    const bool is_one = read.ok() && *read >= 0 && *read <= 64 && std::floor(*read) == *read;
    return is_one ? static_cast<std::size_t>(*read) : 65;
  };
  const std::size_t a = number(text.substr(0, dash));
  const std::size_t b = number(text.substr(dash + 1, equals - dash - 1));
  const std::size_t count = number(text.substr(equals + 1));
  if (a >= lanes.size() || b >= lanes.size() || a == b || count == 0 || count > 64) return false;
  if (lanes[a][b] > 0) return false;
  lanes[a][b] = lanes[b][a] = static_cast<std::uint32_t>(count);
  return true;
}

}  // namespace

std::uint32_t rings_through(const Lanes& lanes, std::uint32_t accelerators) {
  std::vector<std::size_t> over(std::min<std::size_t>(accelerators, lanes.between.size()));
  for (std::size_t i = 0; i < over.size(); ++i) over[i] = i;
  if (over.size() < 2) return 0;
  const std::uint32_t there_and_back = without_ends(lanes.between, over);
  if (over.size() == 2) return std::min(there_and_back, lanes.between[over[0]][over[1]]);
  LaneTable left = lanes.between;
  std::uint32_t most = UINT32_MAX;
  for (const std::size_t one : over) most = std::min(most, lanes_to(left, one, over) / 2);
  const std::uint32_t cycles = packed(left, Cycles(left, over).all(), 0, most);
  return std::min(there_and_back, 2 * cycles);  // one ring each way around
}

std::vector<double> ring_rates(const Lanes& lanes) {
  std::vector<double> rates;
  for (std::uint32_t n = 0; !lanes.between.empty() && n <= lanes.between.size(); ++n) {
    rates.push_back(rings_through(lanes, n) * lanes.bandwidth);
  }
  return rates;
}

Lanes read_lanes(ConfigFields& node, std::uint32_t accelerators) {
  Lanes lanes;
  if (!node.has("lanes")) return lanes;
  std::vector<std::string> texts;
  node.texts("lanes", texts);
  lanes.bandwidth =
      read_positive(node, "lane_bandwidth", ParamType::bandwidth, most_lane_bandwidth);
  if (accelerators > most_laned) {
    node.mistake("lanes", fmt::format("got them for {} accelerators, expected at most {}",
                                      accelerators, most_laned));
    return {};
  }
  lanes.between.assign(accelerators, std::vector<std::uint32_t>(accelerators, 0));
  for (const std::string& text : texts) {
    if (read_lane(text, lanes.between)) continue;
    node.mistake("lanes", fmt::format("got {}, expected two accelerators of the node and the "
                                      "number of lanes between them, once each, such as '0-3=2'",
                                      in_quotes(text)));
    break;
  }
  return lanes;
}

}  // namespace foretrace
